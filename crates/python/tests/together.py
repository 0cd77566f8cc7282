"""Work on many Python threads at once."""

import threading


def together(work, count=8):
    """Runs ``work(number)`` on many threads that begin at once, and raises the first error."""
    errors, gate = [], threading.Barrier(count)

    def run(number):
        try:
            gate.wait()
            work(number)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]

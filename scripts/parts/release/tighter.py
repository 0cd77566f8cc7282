"""Compresses the files of a zip again, in fewer bytes that every reader takes: by zopfli. Run by the interpreter that
has it.

    tighter.py FILE
"""

import sys
import zipfile

import zopfli

with zipfile.ZipFile(sys.argv[1]) as loose:
    entries = [(info, loose.read(info)) for info in loose.infolist()]
with zopfli.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED, iterations=5) as tight:
    for info, data in entries:
        tight.writestr(info, data)

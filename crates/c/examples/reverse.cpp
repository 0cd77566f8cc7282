// Mirrors an image, and reverses the segments of a ragged tensor, with handles that destroy
// themselves.
#include <retrograde.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(retrograde_status status) {
    if (status != RETROGRADE_OK) throw std::runtime_error(retrograde_last_error());
}

struct Destroy {
    void operator()(retrograde_operator *op) const { retrograde_operator_destroy(op); }
    void operator()(retrograde_call *call) const { retrograde_call_destroy(call); }
};
using Operator = std::unique_ptr<retrograde_operator, Destroy>;
using Call = std::unique_ptr<retrograde_call, Destroy>;

Operator make(retrograde_kind kind) {
    retrograde_operator *op = nullptr;
    check(retrograde_operator_create(kind, &op));
    return Operator(op);
}

Call prepare(const Operator &op, const retrograde_tensor &input, const retrograde_tensor *lengths,
             const retrograde_tensor &output) {
    retrograde_call *call = nullptr;
    check(retrograde_prepare(op.get(), &input, lengths, &output, &call));
    return Call(call);
}

}  // namespace

int main() try {
    // A 2 x 3 image of three bytes per pixel, mirrored: a pixel is an element of three bytes.
    const int64_t size[] = {2, 3};
    retrograde_tensor image = RETROGRADE_TENSOR(RETROGRADE_BYTES, 2, size);
    image.element_bytes = 3;
    const Operator mirror = make(RETROGRADE_REVERSE);
    const int64_t columns[] = {-1};
    check(retrograde_operator_set_axes(mirror.get(), columns, 1));
    std::string pixels = "abcdefghiABCDEFGHI";
    const Call flip = prepare(mirror, image, nullptr, image);
    check(retrograde_run_in_place(flip.get(), nullptr, 0, &pixels[0], pixels.size()));
    std::printf("%s\n", pixels.c_str());

    // Three words in a row, cut by offsets.
    const int64_t letters[] = {17}, cuts[] = {4};
    const retrograde_tensor text = RETROGRADE_TENSOR(RETROGRADE_U8, 1, letters);
    const retrograde_tensor offsets = RETROGRADE_TENSOR(RETROGRADE_U32, 1, cuts);
    const Operator segments = make(RETROGRADE_REVERSE_SEGMENTS);
    check(retrograde_operator_set_axis(segments.get(), 0));
    const Call words = prepare(segments, text, &offsets, text);
    const std::string input = "stressedliveradar";
    const std::vector<uint32_t> ends = {0, 8, 12, 17};
    std::string output(input.size(), '?');
    check(retrograde_run(words.get(), input.data(), input.size(), ends.data(),
                         ends.size() * sizeof ends[0], &output[0], output.size()));
    std::printf("%s\n", output.c_str());

    // Errors name the operator, the argument, its value and the allowed range.
    const int64_t wrong[] = {2};
    check(retrograde_operator_set_axes(mirror.get(), wrong, 1));
    try {
        prepare(mirror, image, nullptr, image);
    } catch (const std::runtime_error &error) {
        std::printf("%s\n", error.what());
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

// Mirrors an image, reverses the sequences of a padded batch, and the segments of a ragged tensor.
#include <array>
#include <cstdio>
#include <retrograde.hpp>
#include <string>
#include <vector>

int main() try {
    // A 2 x 3 image of three bytes per pixel, mirrored in place: a pixel is an element of three bytes.
    using Pixel = std::array<char, 3>;
    std::array<Pixel, 6> image = {{{"ab"}, {"cd"}, {"ef"}, {"gh"}, {"ij"}, {"kl"}}};
    retrograde::flip(image, {2, 3}, {-1}, image);
    for (const Pixel &pixel : image) std::printf("%s ", pixel.data());
    std::printf("\n");

    // Three words of up to eight letters, one per row: time is axis 1, the batch axis 0.
    using retrograde::Operator, retrograde::Tensor;
    const std::string words = "stressedlive....parts...";
    std::string output(words.size(), '?');
    const std::vector<int> lengths = {8, 4, 5};
    const auto rows = Operator::reverse_sequence(1, 0).prepare(Tensor::of<char>({3, 8}), Tensor::of<int>({3}));
    rows.run(words, lengths, output);
    std::printf("%s\n", output.c_str());

    // Three words in a row, cut by offsets.
    std::string text = "stressedliveradar";
    const std::vector<std::uint32_t> ends = {0, 8, 12, 17};
    const auto cut = Operator::reverse_segments(0).prepare(Tensor::of<char>({17}), Tensor::of<std::uint32_t>({4}));
    cut.run_in_place(text, ends);
    std::printf("%s\n", text.c_str());

    // Errors name the operator, the argument, its value and the allowed range.
    try {
        rows.run(words, std::vector{8, 9, 5}, output);
    } catch (const retrograde::Error &error) {
        std::printf("%s\n", error.what());
    }
    return 0;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

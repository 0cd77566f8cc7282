// Runs the package that encoder.py writes, without Python: the operators of Retrograde come from
// libretrograde_torch, to which this program is linked.
//
//     run FOLDER [cpu|cuda]

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

/// A file of raw elements as a tensor.
at::Tensor read(const std::string& path, at::IntArrayRef shape, at::ScalarType type) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    auto tensor = at::empty(shape, type);
    TORCH_CHECK(bytes.size() == tensor.nbytes(), path, " has ", bytes.size(), " bytes, expected ", tensor.nbytes());
    std::copy(bytes.begin(), bytes.end(), static_cast<char*>(tensor.data_ptr()));
    return tensor;
}

int main(int count, char** arguments) {
    if (count < 2) {
        std::cerr << "usage: run FOLDER [cpu|cuda]\n";
        return 2;
    }
    const std::string folder = arguments[1];
    const at::Device device(count > 2 ? arguments[2] : "cpu");
    const c10::InferenceMode inference;
    torch::inductor::AOTIModelPackageLoader model(folder + "/encoder.pt2");
    const auto x = read(folder + "/x.bin", {3, 17, 8}, at::kFloat).to(device);
    const auto lengths = read(folder + "/lengths.bin", {3}, at::kLong).to(device);
    const auto expected = read(folder + "/expected.bin", {3, 17, 32}, at::kFloat);

    const auto result = model.run({x, lengths}).at(0).cpu();
    const auto difference = (result - expected).abs().max().item<float>();
    std::cout << "result " << result.sizes() << " on " << device << ", largest difference from Python " << difference << "\n";
    if (!(difference < 1e-5)) {
        return 1;
    }
    try {
        model.run({x, lengths + 99});
    } catch (const std::exception& error) {
        std::cout << "wrong lengths are refused\n";
        return 0;
    }
    // Lengths on a device are checked there, after the call.
    return device.is_cpu() ? 1 : 0;
}

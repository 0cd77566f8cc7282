// Runs a model in ONNX Runtime with and without Retrograde, from C++.
//
//     cargo build --release -p retrograde-onnxruntime
//     c++ -std=c++17 -I HEADERS crates/onnxruntime/examples/session.cpp -o session -l onnxruntime
//     ./session target/release/libretrograde_onnxruntime.so model.onnx
//
// HEADERS has ONNX Runtime's onnxruntime_cxx_api.h, 1.24 or later. The model has inputs x (f32, shape
// [4, 6]) and n (i64, shape [4]) and an output y: one ReverseSequence node, for example.
#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

static const char *const kProvider = "RetrogradeExecutionProvider";

// Runs the model once.
static std::vector<float> run(Ort::Session &session, std::vector<int64_t> lengths) {
    std::vector<float> x(4 * 6);
    std::iota(x.begin(), x.end(), 0.0f);
    const int64_t shape[] = {4, 6}, count[] = {static_cast<int64_t>(lengths.size())};
    auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    Ort::Value inputs[] = {
        Ort::Value::CreateTensor<float>(memory, x.data(), x.size(), shape, 2),
        Ort::Value::CreateTensor<int64_t>(memory, lengths.data(), lengths.size(), count, 1),
    };
    const char *names[] = {"x", "n"}, *outputs[] = {"y"};
    auto result = session.Run(Ort::RunOptions{nullptr}, names, inputs, 2, outputs, 1);
    const float *y = result[0].GetTensorData<float>();
    return std::vector<float>(y, y + x.size());
}

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: session LIBRARY MODEL\n");
        return 2;
    }
    Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "session");
    env.RegisterExecutionProviderLibrary("retrograde", argv[1]);

    std::vector<Ort::ConstEpDevice> devices;
    for (const auto &device : env.GetEpDevices()) {
        if (std::strcmp(device.EpName(), kProvider) == 0) devices.push_back(device);
    }
    if (devices.empty()) {
        std::fprintf(stderr, "%s has no device\n", kProvider);
        return 1;
    }
    int status = 0;
    {
        Ort::SessionOptions options;
        // Claim the node in spite of its size; the default leaves less than 1 KiB to others.
        const std::unordered_map<std::string, std::string> claim = {{"min_bytes", "0"}};
        options.AppendExecutionProvider_V2(env, devices, claim);
        Ort::Session ours(env, argv[2], options);
        Ort::Session theirs(env, argv[2], Ort::SessionOptions{});

        const auto got = run(ours, {6, 3, 0, 1});
        for (int row = 0; row < 4; ++row) {
            for (int column = 0; column < 6; ++column) {
                std::printf("%3g%s", got[row * 6 + column], column == 5 ? "\n" : " ");
            }
        }
        const bool equal = got == run(theirs, {6, 3, 0, 1});
        std::printf("%s the CPU provider\n", equal ? "equal to" : "DIFFERENT FROM");
        status = equal ? 0 : 1;
        try {
            run(ours, {6, 3, 9, 1});
            std::printf("a length of 9 was accepted\n");
            status = 1;
        } catch (const Ort::Exception &error) {
            const char *text = std::strstr(error.what(), "ReverseSequence: ");
            std::printf("refused: %s\n", text ? text : error.what());
            if (!text || error.GetOrtErrorCode() != ORT_INVALID_ARGUMENT) status = 1;
        }
    }
    // Sessions must be gone before the library is.
    env.UnregisterExecutionProviderLibrary("retrograde");
    return status;
}

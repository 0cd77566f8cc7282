// Runs a model in OpenVINO with Retrograde's extensions, and compares the result with OpenVINO's own.
//
//     ./infer libretrograde_openvino-VERSION.so model.xml
//
// docs/openvino.md has the line that compiles it. Sizes that the model leaves open are 4. The bytes of the
// first input count upwards; a second one has lengths of ReverseSequence, which are 1.
#include <cstdio>
#include <cstring>
#include <exception>
#include <openvino/openvino.hpp>

// Runs the model once.
static ov::Tensor run(ov::Core &core, const std::shared_ptr<ov::Model> &model) {
    auto request = core.compile_model(model, "CPU").create_infer_request();
    for (std::size_t at = 0; at < model->inputs().size(); ++at) {
        ov::Shape shape;
        for (const auto &size : model->input(at).get_partial_shape()) {
            shape.push_back(size.is_static() ? size.get_length() : 4);
        }
        ov::Tensor input(model->input(at).get_element_type(), shape);
        auto *bytes = static_cast<unsigned char *>(input.data());
        for (std::size_t byte = 0; byte < input.get_byte_size(); ++byte) {
            bytes[byte] = at == 0 ? byte % 100 : byte % input.get_element_type().size() == 0;
        }
        request.set_input_tensor(at, input);
    }
    request.infer();
    const ov::Tensor output = request.get_output_tensor();
    ov::Tensor copy(output.get_element_type(), output.get_shape());
    output.copy_to(copy);
    return copy;
}

int main(int argc, char **argv) try {
    if (argc != 3) {
        std::fprintf(stderr, "usage: infer LIBRARY MODEL\n");
        return 2;
    }
    ov::Core ours, theirs;
    ours.add_extension(argv[1]);
    const auto model = ours.read_model(argv[2]);
    for (const auto &node : model->get_ordered_ops()) {
        const char *type = node->get_type_name();
        if (std::strstr(type, "Reverse")) std::printf("%s: %s\n", node->get_friendly_name().c_str(), type);
    }
    const ov::Tensor got = run(ours, model), expected = run(theirs, theirs.read_model(argv[2]));
    const bool equal = got.get_byte_size() == expected.get_byte_size() &&
                       std::memcmp(got.data(), expected.data(), got.get_byte_size()) == 0;
    std::printf("%s OpenVINO's own operators\n", equal ? "equal to" : "DIFFERENT FROM");
    return equal ? 0 : 1;
} catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}

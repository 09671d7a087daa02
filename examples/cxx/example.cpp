// Keyway from C++: an operator, a kernel with state, a layer above it, and a plugin that comes and
// goes while calls could run.
//
// Layer:   example
// Threads: one; every call here could be made by any thread at any time.
// SPDX-License-Identifier: MIT

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include <keyway/keyway.hpp>

// The embedder's tensor: a counted reference to its storage.
struct storage {
    kw::keyset keys;
    double value;
    std::atomic<int> references;
};

class tensor {
  public:
    tensor() = default;

    tensor(double value, kw::keyset keys) : storage_(new storage{keys, value, {1}})
    {
    }

    tensor(const tensor &other) noexcept : storage_(other.storage_)
    {
        if (storage_ != nullptr) {
            storage_->references++;
        }
    }

    tensor(tensor &&other) noexcept : storage_(std::exchange(other.storage_, nullptr))
    {
    }

    tensor &operator=(tensor other) noexcept
    {
        std::swap(storage_, other.storage_);
        return *this;
    }

    ~tensor()
    {
        if (storage_ != nullptr && --storage_->references == 0) {
            delete storage_;
        }
    }

    double value() const noexcept
    {
        return storage_->value;
    }

  private:
    friend struct kw::tensor_traits<tensor>;

    storage *storage_ = nullptr;
};

// snippet: tensor
// What Keyway has to know of it. The address of its storage is the handle.
template <> struct kw::tensor_traits<tensor> {
    static void *handle(const tensor &x) noexcept
    {
        return x.storage_;
    }

    static void *release(tensor &&x) noexcept
    {
        return std::exchange(x.storage_, nullptr);
    }

    static tensor adopt(void *handle) noexcept
    {
        tensor made;
        made.storage_ = static_cast<storage *>(handle);
        return made;
    }

    static kw_keyset keys(const tensor &x) noexcept
    {
        return x.storage_ != nullptr ? x.storage_->keys : kw::keyset();
    }
};
// end of snippet

namespace {

tensor make_tensor(double value, kw::keyset keys = {kw::key::CPU})
{
    return tensor(value, keys);
}

// snippet: kernels
// A kernel is a function. Its schema is (Tensor _0, float _1) -> (Tensor _0).
tensor scale_cpu(const tensor &x, double factor)
{
    if (factor == 0) {
        throw std::invalid_argument("a factor of zero");
    }
    return make_tensor(x.value() * factor);
}

// Or an object with state, which the library destroys after the last call that could run it.
class counting_scale {
  public:
    explicit counting_scale(std::string name) : name_(std::move(name))
    {
    }

    ~counting_scale()
    {
        std::printf("%s is gone\n", name_.c_str());
    }

    tensor operator()(const tensor &x, double factor) const
    {
        std::printf("%s: ", name_.c_str());
        return make_tensor(x.value() * factor + 0.5);
    }

  private:
    std::string name_;
};
// end of snippet

void run()
{
    // snippet: define
    kw::library m("my");
    m.def("scale(Tensor x, float factor=2) -> Tensor");
    m.impl("scale", kw::key::CPU, kw::fn<&scale_cpu>);
    m.def("twice", [](const tensor &x) { return make_tensor(x.value() * 2); }); // schema inferred

    const auto scale = kw::op<tensor(const tensor &, double)>::find("my::scale");
    std::printf("%g\n", scale(make_tensor(21), 2).value()); // 42
    // end of snippet

    // snippet: layer
    // A layer: it does its part, takes its key away, and goes on in the same call.
    m.impl("scale", kw::key::Tracer, [scale](kw::keyset keys, const tensor &x, double factor) {
        std::printf("scale by %g: ", factor);
        return scale.redispatch(keys.below(kw::key::Tracer), x, factor);
    });
    std::printf("%g\n", scale(make_tensor(21, {kw::key::CPU, kw::key::Tracer}), 3).value());
    // end of snippet

    // snippet: plugin
    {
        kw::library plugin("my");
        kw::transaction tx; // all of it at one instant, or nothing
        tx.impl(plugin, "scale", kw::key::CPU, kw::kernel::make<counting_scale>("plugin"));
        tx.impl(plugin, "twice",
                [](const tensor &x) { return make_tensor(x.value() + x.value()); });
        tx.commit();
        std::printf("%g\n", scale(make_tensor(21), 2).value()); // plugin: 42.5
    } // closes the plugin, waits for calls that are inside it, destroys its state
    std::printf("%g\n", scale(make_tensor(21), 2).value()); // 42
    // end of snippet

    // snippet: errors
    try {
        scale(make_tensor(21), 0);
    } catch (const kw::error &thrown) {
        // KW_KERNEL_FAILED: a factor of zero; in `my::scale`
        std::printf("%s: %s\n", kw_status_name(thrown.status()), thrown.what());
    }
    const kw::result<tensor> outcome = scale.try_call(make_tensor(21), 0);
    std::printf("%s\n", outcome ? "good" : outcome.text());
    // end of snippet
}

} // namespace

int main()
{
    try {
        run();
    } catch (const std::exception &thrown) {
        std::fprintf(stderr, "%s\n", thrown.what());
        return 1;
    }
    return 0;
}

// Snapshots and guards: open for their scope, moved, ended by exceptions, in order.
// SPDX-License-Identifier: MIT

#include <optional>
#include <stdexcept>

#include <keyway/keyway.hpp>

#include "cxx/check.hpp"
#include "cxx/tensor.hpp"

namespace {

static_assert(std::is_move_constructible_v<kw::snapshot>, "moves");
static_assert(!std::is_copy_constructible_v<kw::snapshot>, "does not copy");
static_assert(std::is_move_constructible_v<kw::local_guard>, "moves");
static_assert(!std::is_copy_constructible_v<kw::local_guard>, "does not copy");
static_assert(!std::is_copy_constructible_v<kw::library>, "does not copy");
static_assert(!std::is_copy_constructible_v<kw::transaction>, "does not copy");
static_assert(!std::is_copy_constructible_v<kw::dispatcher>, "does not copy");
static_assert(!std::is_copy_constructible_v<kw::registration>, "does not copy");
static_assert(!std::is_copy_constructible_v<kw::kernel>, "does not copy");

// Constants come from the list of key.h, at compile time.
static_assert(kw::key::CPU == KW_KEY_CPU && kw::key::AutogradMeta == KW_KEY_AutogradMeta, "keys");
static_assert(kw::key::SparseCsrCUDA == KW_KEY_SparseCsrCUDA, "keys of backends");
static_assert(kw::key::CompositeImplicitAutograd == KW_KEY_CompositeImplicitAutograd, "aliases");
static_assert(kw::key::CatchAll == KW_KEY_Undefined, "synonyms");
static_assert(kw::keyset{kw::key::CPU}.bits() == 0x10001, "a constant set");
static_assert((kw::keyset{kw::key::CPU} | kw::keyset{kw::key::Tracer}) ==
                  kw::keyset{kw::key::CPU, kw::key::Tracer},
              "algebra");
static_assert((kw::keyset{kw::key::CPU} - kw::keyset{kw::key::CPU}).bits() == 1, "backends stay");

void check_keysets()
{
    const kw::keyset keys = {kw::key::CPU, kw::key::AutogradCPU};
    CHECK(keys.has(kw::key::AutogradCPU) && !keys.has(kw::key::CUDA));
    CHECK(keys.highest() == kw::key::AutogradCPU);
    CHECK(keys.below(kw::key::AutogradCPU) == kw::keyset{kw::key::CPU});
    CHECK(!keys.is_empty() && kw::keyset().is_empty());
    CHECK(keys.has_any({kw::key::AutogradCUDA}) && keys != kw::keyset());
    const kw_keyset c = keys;
    CHECK(kw::keyset(c) == keys && (keys & keys) == keys);
}

bool is_default()
{
    const kw_local_state now = kw_local_capture();
    const kw_local_state wanted = kw_local_default();
    return now.included.bits == wanted.included.bits && now.excluded.bits == wanted.excluded.bits;
}

void check_guards()
{
    CHECK(is_default());
    {
        const auto include = kw::include({kw::key::Tracer});
        CHECK(kw_local_is_included(KW_KEY_Tracer));
        {
            const auto exclude = kw::exclude({kw::key::Negative});
            const auto autograd = kw::below_autograd();
            const auto views = kw::below_view();
            CHECK(kw_local_is_excluded(KW_KEY_Negative) &&
                  kw_local_is_excluded(KW_KEY_AutogradFunctionality) &&
                  kw_local_is_excluded(KW_KEY_ADInplaceOrView));
        }
        CHECK(!kw_local_is_excluded(KW_KEY_Negative));
        const auto mode = kw::inference_mode();
        CHECK(!kw_local_is_included(KW_KEY_ADInplaceOrView));
        const auto forced = kw::force(kw_local_default());
        CHECK(is_default());
    }
    CHECK(is_default());
    try {
        const auto include = kw::include({kw::key::Tracer});
        throw std::runtime_error("out");
    } catch (const std::runtime_error &) {
    }
    CHECK(is_default());
    std::optional<kw::local_guard> kept;
    kept.emplace(kw::include({kw::key::Tracer}));
    kw::local_guard moved = std::move(*kept);
    kept.reset();
    CHECK(kw_local_is_included(KW_KEY_Tracer));
    moved.restore();
    CHECK(is_default());
}

void check_snapshots()
{
    kw::dispatcher d = make_dispatcher();
    kw::library m(d, "my");
    m.def("f", [](int64_t n) { return n; });
    const auto f = kw::op<int64_t(int64_t)>::find(d, "my::f");
    std::optional<kw::registration> over;
    try {
        const kw::snapshot before;
        over.emplace(m, m.impl("f", [](int64_t n) { return n + 1; }));
        CHECK(f(1) == 1 && before.version() < kw_version());
        kw::snapshot inner;
        CHECK(inner.version() == before.version());
        kw::snapshot moved = std::move(inner);
        CHECK(moved.version() == before.version());
        CHECK_THROWS(KW_WRONG_ORDER, inner.close());
        throw std::runtime_error("out");
    } catch (const std::runtime_error &) {
    }
    CHECK(f(1) == 2);
    kw::snapshot outer;
    kw::snapshot inner;
    CHECK_THROWS(KW_WRONG_ORDER, outer.close());
    inner.close();
    outer.close();
    over.reset();
    CHECK(f(1) == 1);
}

} // namespace

int main()
{
    check_keysets();
    check_guards();
    check_snapshots();
    return check::done();
}

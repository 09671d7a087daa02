// Schemas that differ from another one in one point.
//
// Layer:   test
// Threads: one.
// SPDX-License-Identifier: MIT

#include "schema_mutate.h"

#include <ATen/core/alias_info.h>
#include <ATen/core/jit_type.h>

namespace differential {

namespace {

using c10::Argument;
using c10::FunctionSchema;
using c10::IValue;
using c10::TypePtr;

// A type, and the one that values of it have.
struct TypePair {
    TypePtr fake;
    TypePtr real;
};

const std::vector<TypePair> &types()
{
    static const TypePtr integer = c10::IntType::get();
    static const TypePtr symbolic = c10::SymIntType::get();
    static const TypePtr tensor = c10::TensorType::get();
    const auto list = [](const TypePtr &type) -> TypePtr { return c10::ListType::create(type); };
    const auto optional = [](const TypePtr &type) -> TypePtr {
        return c10::OptionalType::create(type);
    };
    static const std::vector<TypePair> all = {
        {integer, integer},
        {integer, symbolic},
        {integer, c10::ScalarTypeType::get()},
        {integer, c10::LayoutType::get()},
        {integer, c10::MemoryFormatType::get()},
        {list(integer), list(integer)},
        {list(integer), list(symbolic)},
        {optional(integer), optional(integer)},
        {optional(integer), optional(symbolic)},
        {tensor, tensor},
        {optional(tensor), optional(tensor)},
        {list(tensor), list(tensor)},
        {list(optional(tensor)), list(optional(tensor))},
        {c10::FloatType::get(), c10::FloatType::get()},
        {c10::BoolType::get(), c10::BoolType::get()},
        {c10::StringType::get(), c10::StringType::get()},
        {c10::NumberType::get(), c10::NumberType::get()},
        {c10::DeviceObjType::get(), c10::DeviceObjType::get()},
        {c10::GeneratorType::get(), c10::GeneratorType::get()},
    };
    return all;
}

uint64_t next(uint64_t &random)
{
    random += UINT64_C(0x9e3779b97f4a7c15); // SplitMix64
    uint64_t z = (random ^ (random >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

// The parts of an argument, to be changed and made into one again.
struct Parts {
    std::string name;
    TypePtr fake;
    TypePtr real;
    c10::optional<int32_t> size;
    c10::optional<IValue> default_value;
    bool is_keyword_only;
    c10::optional<c10::AliasInfo> alias;

    explicit Parts(const Argument &argument)
        : name(argument.name()), fake(argument.type()), real(argument.real_type()),
          size(argument.N()), default_value(argument.default_value()),
          is_keyword_only(argument.kwarg_only())
    {
        if (argument.alias_info() != nullptr) {
            alias = *argument.alias_info();
        }
    }

    Argument make() const
    {
        return Argument(name, fake, real, size, default_value, is_keyword_only, alias);
    }
};

FunctionSchema with_arguments(const FunctionSchema &schema, std::vector<Argument> arguments)
{
    return FunctionSchema(schema.name(), schema.overload_name(), std::move(arguments),
                          schema.returns(), schema.is_vararg(), schema.is_varret());
}

FunctionSchema with_returns(const FunctionSchema &schema, std::vector<Argument> returns)
{
    return FunctionSchema(schema.name(), schema.overload_name(), schema.arguments(),
                          std::move(returns), schema.is_vararg(), schema.is_varret());
}

std::vector<Argument> without(std::vector<Argument> arguments, size_t index)
{
    arguments.erase(arguments.begin() + static_cast<ptrdiff_t>(index));
    return arguments;
}

std::vector<Argument> replaced(std::vector<Argument> arguments, size_t index, const Parts &parts)
{
    arguments[index] = parts.make();
    return arguments;
}

bool change_type(Parts &parts, uint64_t &random)
{
    const TypePair &other = types()[next(random) % types().size()];
    if (parts.default_value || parts.alias || parts.size) {
        return false; // which fit the type
    }
    parts.fake = other.fake;
    parts.real = other.real;
    return true;
}

bool change_default(Parts &parts)
{
    if (!parts.default_value) {
        return false;
    }
    const IValue &old = *parts.default_value;
    if (old.isInt()) {
        parts.default_value = IValue(old.toInt() + 1);
    } else if (old.isBool()) {
        parts.default_value = IValue(!old.toBool());
    } else if (old.isDouble()) {
        parts.default_value = IValue(old.toDouble() + 0.125);
    } else if (old.isString()) {
        parts.default_value = IValue(old.toStringRef() + "x");
    } else {
        return false;
    }
    return true;
}

bool change_alias(Parts &parts)
{
    if (parts.alias && parts.alias->containedTypes().empty()) {
        parts.alias = c10::nullopt;
        return true;
    }
    if (parts.alias || parts.fake->kind() != c10::TypeKind::TensorType) {
        return false;
    }
    c10::AliasInfo info;
    const c10::Symbol set = c10::Symbol::fromQualString("alias::fresh");
    info.addBeforeSet(set);
    info.addAfterSet(set);
    parts.alias = info;
    return true;
}

// Whether argument `index` may lose its default: none before it has one.
bool is_first_default(const std::vector<Argument> &arguments, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (arguments[i].default_value()) {
            return false;
        }
    }
    return arguments[index].default_value().has_value();
}

// Whether argument `index` is the last positional one.
bool is_last_positional(const std::vector<Argument> &arguments, size_t index)
{
    return !arguments[index].kwarg_only() &&
           (index + 1 == arguments.size() || arguments[index + 1].kwarg_only());
}

bool change_argument(Parts &parts, const std::vector<Argument> &arguments, size_t index,
                     Mutation mutation, uint64_t &random)
{
    if (mutation == Mutation::argument_renamed) {
        parts.name += "_renamed";
        return true;
    }
    if (mutation == Mutation::argument_type) {
        return change_type(parts, random);
    }
    if (mutation == Mutation::argument_size) {
        parts.size = parts.size ? c10::optional<int32_t>(*parts.size + 1) : c10::nullopt;
        return parts.size.has_value() && !parts.default_value;
    }
    if (mutation == Mutation::argument_keyword_only) {
        parts.is_keyword_only = true;
        return is_last_positional(arguments, index);
    }
    if (mutation == Mutation::default_changed) {
        return change_default(parts);
    }
    if (mutation == Mutation::default_dropped) {
        parts.default_value = c10::nullopt;
        return is_first_default(arguments, index);
    }
    return mutation == Mutation::alias && change_alias(parts);
}

std::vector<FunctionSchema> mutate_returns(const FunctionSchema &schema, Mutation mutation,
                                           uint64_t &random)
{
    std::vector<FunctionSchema> made;
    for (size_t i = 0; i < schema.returns().size(); i++) {
        Parts parts(schema.returns()[i]);
        if (mutation == Mutation::return_dropped) {
            made.push_back(with_returns(schema, without(schema.returns(), i)));
        } else if (change_type(parts, random)) {
            made.push_back(with_returns(schema, replaced(schema.returns(), i, parts)));
        }
    }
    return made;
}

} // namespace

const char *mutation_name(Mutation mutation)
{
    static const char *const names[] = {
        "operator renamed", "overload renamed", "argument dropped", "argument renamed",
        "argument's type",  "argument's size",  "keyword-only",     "default changed",
        "default dropped",  "alias annotation", "return dropped",   "return's type",
    };
    return names[static_cast<size_t>(mutation)];
}

std::vector<FunctionSchema> mutate(const FunctionSchema &schema, Mutation mutation,
                                   uint64_t &random)
{
    const std::vector<Argument> &arguments = schema.arguments();
    if (mutation == Mutation::name || mutation == Mutation::overload) {
        const bool is_name = mutation == Mutation::name;
        return {FunctionSchema(schema.name() + (is_name ? "_renamed" : ""),
                               schema.overload_name() + (is_name ? "" : "renamed"), arguments,
                               schema.returns(), schema.is_vararg(), schema.is_varret())};
    }
    if (mutation == Mutation::return_dropped || mutation == Mutation::return_type) {
        return mutate_returns(schema, mutation, random);
    }
    std::vector<FunctionSchema> made;
    for (size_t i = 0; i < arguments.size(); i++) {
        Parts parts(arguments[i]);
        if (mutation == Mutation::argument_dropped) {
            made.push_back(with_arguments(schema, without(arguments, i)));
        } else if (change_argument(parts, arguments, i, mutation, random)) {
            made.push_back(with_arguments(schema, replaced(arguments, i, parts)));
        }
    }
    return made;
}

} // namespace differential

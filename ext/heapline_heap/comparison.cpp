/* SPDX-License-Identifier: MIT */
#include "comparison.hpp"

namespace heapline {

size_t Comparison::KeyHash::operator()(const Key &key) const {
    uint64_t sum = 0;
    for (uint32_t part : {key.label, key.type, key.file, key.line, key.generation})
        sum = (sum ^ part) * 0x9e3779b97f4a7c15u, sum ^= sum >> 29;
    return sum;
}

Comparison::Comparison(std::vector<Dump *> dumps, const Job &job) {
    for (Dump *dump : dumps) {
        View view = {dump, {}, &dump->groups(job), {}};
        view.translation.learn(dump->vocabulary(), vocabulary_);
        for (const std::string &name : view.groups->names) view.labels.push_back(vocabulary_.word(name));
        views_.push_back(std::move(view));
    }
    same_process_ = of_one_process();
    const View *third = views_.size() > 2 ? &views_[2] : nullptr;
    count(views_[0], job, before, gone, views_[1], nullptr);
    count(views_[1], job, after, born, views_[0], third);
    if (third) count(views_[2], job, last, STAGES, views_[1], nullptr);
}

/* A class hardly ever moves, and another process has it elsewhere. */
bool Comparison::of_one_process() const {
    const Dump &first = *views_[0].dump;
    for (size_t i = 1; i < views_.size(); i++) {
        const Dump &other = *views_[i].dump;
        if (first.survey().pid && other.survey().pid && first.survey().pid != other.survey().pid) return false;
        auto [same, all] = first.classes().common(first.vocabulary(), other.classes(), other.vocabulary());
        if (same * 2 < all) return false;
    }
    return true;
}

Comparison::Key Comparison::key(const View &view, uint32_t number) const {
    const Node &node = view.dump->nodes()->node(number);
    const Vocabulary &words = view.dump->vocabulary();
    const Place &place = words.place_at(node.place);
    return {view.labels[view.groups->of[number]], view.translation.word(words.kind_at(node.kind).type),
            view.translation.word(place.file), place.line, node.generation};
}

Comparison::Row &Comparison::row(const Key &key) {
    auto [found, fresh] = numbers_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
    if (fresh) rows_.push_back({key, {}});
    return rows_[found->second];
}

bool Comparison::has(const View &view, uint64_t address, const Key &wanted) const {
    uint32_t node = view.dump->nodes()->find(address);
    if (node == NOBODY) return false;
    Key found = key(view, node);
    if (found.label != wanted.label || found.type != wanted.type) return false;
    if (found.generation && wanted.generation && found.generation != wanted.generation) return false;
    return !found.file || !wanted.file || (found.file == wanted.file && found.line == wanted.line);
}

/* Every object of `view` counts under `all`, and those that `other` does not have under `alone`. */
void Comparison::count(const View &view, const Job &job, Stage all, Stage alone, const View &other, const View *third) {
    const Graph &nodes = *view.dump->nodes();
    for (uint32_t number = 0; number < nodes.objects(); number++) {
        job.check(number);
        const Node &node = nodes.node(number);
        uint64_t bytes = nodes.bytes(number);
        Key wanted = key(view, number);
        Row &sums = row(wanted);
        sums.figures[all].add(bytes, node.slot);
        if (alone == STAGES || !same_process_ || has(other, node.address, wanted)) continue;
        sums.figures[alone].add(bytes, node.slot);
        if (third && has(*third, node.address, wanted)) sums.figures[kept].add(bytes, node.slot);
    }
}

} // namespace heapline

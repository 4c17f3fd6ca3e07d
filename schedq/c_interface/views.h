// From the engine's pods and objects to what callbacks of the C interface see of them.
//
// A view is two pointers and copies nothing; it lives as long as what it shows. Threads: any.
#pragma once

#include <string>

#include "engine/object.h"
#include "engine/pod.h"
#include "hints/plugin.h"
#include "schedq/schedq.h"

namespace schedq {

class World;

schedq_pod_view ViewOf(const Pod& pod);
schedq_object_view ViewOf(const ObjectView& object);

// Both versions of an object, to be shown.
class ChangeView {
 public:
  explicit ChangeView(const ObjectChange& change);
  ChangeView(const ChangeView&) = delete;
  ChangeView& operator=(const ChangeView&) = delete;

  const schedq_change* change() const { return &change_; }

 private:
  schedq_object_view before_;
  schedq_object_view after_;
  schedq_change change_;
};

// Appends to `text`; null: the text is dropped.
schedq_message MessageTo(std::string* text);

// Where a pre-queueing hint's pods go.
struct ListedPods {
  const World* world = nullptr;
  PodList* pods = nullptr;
};
schedq_pods PodsTo(ListedPods* listed);

// Other pods that wait at Permit.
schedq_waiting WaitingTo(WaitingPodsOfPlugin* waiting);

}  // namespace schedq

#include "bench/sim/cluster/cluster.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "bench/format/objects/device_objects.h"
#include "bench/sim/devices/allocation.h"
#include "engine/pod_rules.h"

namespace schedq {
namespace {

constexpr std::string_view kPodOwner = "Pod/";
constexpr std::string_view kGroupKind = "PodGroup";
constexpr std::string_view kCompositeKind = "CompositePodGroup";

// The text equals the plugin's own, so that a scheduler that reports the same sends no call.
const PodCondition kGatedCondition{std::string(kPodScheduledCondition), "False", "SchedulingGated",
                                   "Scheduling is blocked due to non-empty scheduling gates"};

void AddLabels(Labels* labels, const Labels& extra) {
  for (const auto& [key, value] : extra) SetLabel(labels, key, value);
}

// Fills the fields that views of all kinds have.
void FillView(ObjectView* view, Resource resource, const ApiObject& object,
              const ObjectHandle& handle) {
  view->resource = resource;
  view->namespace_name = handle.namespace_name;
  view->name = handle.name;
  view->labels = object.metadata.labels;
}

GroupKey KeyOfGroup(const ObjectHandle& handle) {
  const bool is_composite = handle.kind == kCompositeKind;
  return {is_composite ? GroupKind::kComposite : GroupKind::kPodGroup, handle.namespace_name,
          handle.name};
}

// The name of the pod among the owner references; empty: there is none.
std::string OwnerPod(const ObjectMetadata& metadata) {
  for (const std::string& owner : metadata.owners) {
    if (owner.starts_with(kPodOwner)) return owner.substr(kPodOwner.size());
  }
  return "";
}

// What upstream has in the status of a claim.
bool HaveSameStatus(const ClusterClaim& a, const ClusterClaim& b) {
  const bool are_allocated_alike =
      a.allocation == b.allocation ||
      (a.allocation != nullptr && b.allocation != nullptr && *a.allocation == *b.allocation);
  return are_allocated_alike && a.allocated_at == b.allocated_at &&
         a.device_statuses == b.device_statuses && a.reserved_for == b.reserved_for &&
         a.reserved_groups == b.reserved_groups;
}

}  // namespace

std::string Cluster::GenerateName(const std::string& prefix) {
  return fmt::format(FMT_COMPILE("{}{:05}"), prefix, ++last_generated_);
}

ObjectHandle HandleOf(const ApiObject& object, const std::string& namespace_name) {
  const ObjectMetadata& metadata = object.metadata;
  ObjectHandle handle{object.kind, "", metadata.name};
  if (IsNamespacedKind(object.kind).value_or(true)) {
    handle.namespace_name =
        metadata.namespace_name.empty() ? namespace_name : metadata.namespace_name;
  }
  return handle;
}

Result<ObjectHandle> Cluster::Create(const ApiObjectRef& object, const std::string& namespace_name,
                                     const Labels& extra_labels) {
  const ObjectMetadata& metadata = object->metadata;
  ObjectHandle handle = HandleOf(*object, namespace_name);
  if (const auto* pod = std::get_if<PodObject>(&object->body);
      pod != nullptr && !PriorityOf(*pod)) {
    return Error(
        fmt::format("a pod has the priorityClassName {}, expected a PriorityClass of that name",
                    pod->priority_class));
  }
  if (handle.name.empty()) handle.name = GenerateName(metadata.generate_name);
  std::string name = QualifiedName(handle.namespace_name, handle.name);
  const bool is_pod = std::holds_alternative<PodObject>(object->body);
  const bool is_new = is_pod ? pod_numbers_.emplace(name, last_pod_ + 1).second
                             : others_.emplace(handle.kind + ' ' + name, object).second;
  if (!is_new) return Error(fmt::format("{} {} exists already", handle.kind, name));
  if (is_pod) {
    CreatePod(object, &handle, extra_labels);
  } else if (std::holds_alternative<NodeObject>(object->body)) {
    CreateNode(*object, &handle, extra_labels);
  } else if (const auto* claim = std::get_if<ResourceClaimObject>(&object->body)) {
    auto created = std::make_shared<ClusterClaim>();
    FillView(created.get(), Resource::kResourceClaim, *object, handle);
    created->spec = claim->spec;
    created->owner_pod_name = OwnerPod(metadata);
    return CreateClaim(std::move(created));
  } else if (std::holds_alternative<ResourceClaimTemplateObject>(object->body)) {
    claim_templates_[name] = object;
  } else if (std::holds_alternative<ResourceSliceObject>(object->body)) {
    CreateDevices(*object, handle);
  } else if (std::holds_alternative<DeviceClassObject>(object->body)) {
    CreateClass(*object, handle);
  } else if (std::holds_alternative<DeviceTaintRuleObject>(object->body)) {
    CreateTaintRule(*object, handle);
  } else if (std::holds_alternative<NamespaceObject>(object->body)) {
    CreateNamespace(*object, handle);
  } else if (std::holds_alternative<PodGroupObject>(object->body)) {
    CreateGroup(*object, handle);
  } else if (std::holds_alternative<DisruptionBudgetObject>(object->body)) {
    CreateBudget(*object, handle);
  } else if (const auto* priority = std::get_if<PriorityClassObject>(&object->body)) {
    priority_classes_[handle.name] = *priority;
  } else {
    storage_.Create(*object, handle.namespace_name, handle.name);
  }
  return handle;
}

bool Cluster::Delete(const ObjectHandle& object) {
  const std::string name = QualifiedName(object.namespace_name, object.name);
  if (object.kind == "Pod") {
    const auto found = pod_numbers_.find(name);
    return found != pod_numbers_.end() && DeletePodGracefully(found->second);
  }
  if (others_.erase(object.kind + ' ' + name) == 0) return false;
  if (const auto node = node_numbers_.find(object.name);
      object.kind == "Node" && node != node_numbers_.end()) {
    const ClusterNodeRef gone = nodes_.at(node->second);
    nodes_.erase(node->second);
    node_numbers_.erase(node);
    was_restless_ = true;
    Emit(Resource::kNode, Action::kDelete, gone, nullptr);
  } else if (const auto claim = claims_.find(name);
             object.kind == "ResourceClaim" && claim != claims_.end()) {
    const ClusterClaimRef gone = claim->second;
    claims_.erase(claim);
    if (gone->allocation != nullptr) devices_.Release(*gone->allocation);
    Emit(Resource::kResourceClaim, Action::kDelete, gone, nullptr);
  } else if (object.kind == "Namespace") {
    auto gone = namespaces_.extract(object.name);
    EmitNamespace(Action::kDelete, std::move(gone.mapped()), nullptr);
  } else if (object.kind == kGroupKind || object.kind == kCompositeKind) {
    DeleteGroup(object);
  } else if (object.kind == "PriorityClass") {
    priority_classes_.erase(object.name);
  } else if (object.kind == "PodDisruptionBudget") {
    auto gone = budgets_.extract(name);
    EmitBudget(Action::kDelete, std::move(gone.mapped()), nullptr);
  } else if (!storage_.Delete(object.kind, name)) {
    DeleteDeviceObject(object);
  }
  return true;
}

void Cluster::CreateNode(const ApiObject& object, ObjectHandle* handle,
                         const Labels& extra_labels) {
  const NodeObject& spec = std::get<NodeObject>(object.body);
  auto node = std::make_shared<ClusterNode>();
  FillView(node.get(), Resource::kNode, object, *handle);
  node->number = ++last_node_;
  was_restless_ = was_restless_ || last_pod_ != 0;
  node->uid = fmt::format("node-{}", node->number);
  node->allocatable = spec.allocatable;
  node->taints = spec.taints;
  node->unschedulable = spec.unschedulable;
  node->images = spec.images;
  node->declared_features = spec.declared_features;
  AddLabels(&node->labels, {{"kubernetes.io/hostname", handle->name}});
  AddLabels(&node->labels, extra_labels);
  nodes_[node->number] = node;
  node_numbers_[handle->name] = node->number;
  Emit(Resource::kNode, Action::kAdd, nullptr, node);
}

ClusterNodeRef Cluster::FindNode(const std::string& name) const {
  const auto found = node_numbers_.find(name);
  return found == node_numbers_.end() ? nullptr : nodes_.at(found->second);
}

void Cluster::UpdateNode(const std::string& name, const std::function<bool(ClusterNode*)>& change) {
  const ClusterNodeRef before = FindNode(name);
  SCHEDQ_CHECK(before != nullptr, "only nodes that exist are updated");
  auto after = std::make_shared<ClusterNode>(*before);
  if (!change(after.get())) return;
  after->relabelled =
      after->relabelled || before->labels != after->labels || before->taints != after->taints;
  after->has_shrunk = after->has_shrunk || AnyLarger(before->allocatable, after->allocatable);
  nodes_[after->number] = after;
  Emit(Resource::kNode, Action::kUpdate, before, after);
}

void Cluster::CreatePod(const ApiObjectRef& object, ObjectHandle* handle,
                        const Labels& extra_labels) {
  auto pod = std::make_shared<ClusterPod>();
  static_cast<Pod&>(*pod) = std::get<PodObject>(object->body).pod;
  pod->object = object;
  pod->number = ++last_pod_;
  pod->slot_ref = slots_->Take();
  pod->namespace_name = handle->namespace_name;
  pod->name = handle->name;
  pod->uid = fmt::format(FMT_COMPILE("pod-{}"), pod->number);
  pod->labels = object->metadata.labels;
  AddLabels(&pod->labels, extra_labels);
  pod->conditions.clear();  // The API server gives a new pod a status of its own.
  pod->nominated_node_name.clear();
  pod->created = options_.clock->Now();
  pod->finalizers = object->metadata.finalizers;
  if (options_.devices.extended_resources) TakeDeviceRequests(pod.get());
  if (options_.devices.workload_claims) NoteGroupClaims(pod.get());
  if (!pod->scheduling_gates.empty()) SetCondition(pod.get(), kGatedCondition);
  const PodObject& spec = pod->spec();
  const PriorityClassObject priority = *PriorityOf(spec);
  pod->priority = priority.value;
  pod->never_preempts = spec.never_preempts.value_or(priority.never_preempts);
  if (options_.needed_features != nullptr) NeedFeatures(pod.get());
  pods_.Set(pod->number, pod);
  EmitPod(Action::kAdd, nullptr, pod);
}

// A resource is a class's from the pod's creation on, and no node's: classes come before pods.
void Cluster::TakeDeviceRequests(ClusterPod* pod) const {
  for (const ExtendedRequest& request : pod->spec().extended_requests) {
    if (devices_.ClassOfResource(request.resource) == nullptr &&
        !request.resource.starts_with(kDeviceClassResource)) {
      continue;
    }
    pod->device_requests.push_back(request);
    std::erase_if(pod->requests, [&](const auto& each) { return each.first == request.resource; });
  }
}

// A claim is the group's from the pod's creation on: groups come before their pods.
void Cluster::NoteGroupClaims(ClusterPod* pod) const {
  if (pod->group_name.empty()) return;
  const ClusterGroupRef group = FindGroup(GroupKeyOf(*pod));
  if (group == nullptr) return;
  const auto& claims = group->spec.claims;
  for (const PodClaim& claim : pod->spec().claims) {
    if (std::find(claims.begin(), claims.end(), claim) == claims.end()) continue;
    pod->group_claims.push_back(claim.name);
  }
}

std::optional<PriorityClassObject> Cluster::PriorityOf(const PodObject& pod) const {
  const std::string& name = pod.priority_class;
  if (pod.has_priority) return PriorityClassObject{.value = pod.pod.priority};
  for (const auto& [class_name, priority] : priority_classes_) {
    if (name.empty() ? priority.is_default : class_name == name) return priority;
  }
  return name.empty() ? std::optional(PriorityClassObject()) : std::nullopt;
}

// Pods of one template share what becomes of their rules.
void Cluster::NeedFeatures(ClusterPod* pod) {
  if (!pod->spec().has_resources) return;
  if (rules_after_ == nullptr || rules_before_ != pod->rules) {
    auto rules = std::make_shared<PodRules>();
    if (pod->rules != nullptr) *rules = *pod->rules;
    rules->node_features = *options_.needed_features;
    rules_before_ = pod->rules;
    rules_after_ = std::move(rules);
  }
  pod->rules = rules_after_;
}

ClusterPodRef Cluster::FindPod(uint64_t number) const {
  const ClusterPodRef* const found = pods_.Find(number);
  return found == nullptr ? nullptr : *found;
}

bool Cluster::DeletePod(uint64_t number) {
  const ClusterPodRef pod = FindPod(number);
  if (pod == nullptr) return false;
  if (pod->finalizers.empty()) {
    RemovePod(pod);
    return true;
  }
  return UpdatePod(number, [](ClusterPod* after) {
    const bool was_awaited = std::exchange(after->awaits_kubelet, false);
    return !std::exchange(after->deleting, true) || was_awaited;
  });
}

bool Cluster::DeletePodGracefully(uint64_t number) {
  const ClusterPodRef pod = FindPod(number);
  if (pod == nullptr) return false;
  if (pod->node_name.empty() || pod->spec().grace_seconds == 0) return DeletePod(number);
  return UpdatePod(number, [](ClusterPod* after) {
    after->awaits_kubelet = true;
    return !std::exchange(after->deleting, true);
  });
}

void Cluster::RemovePod(const ClusterPodRef& pod) {
  was_restless_ = true;
  if (!pod->group_name.empty()) lost_members_.insert(GroupKeyOf(*pod));
  pods_.Erase(pod->number);
  pod_numbers_.erase(QualifiedName(pod->namespace_name, pod->name));
  EmitPod(Action::kDelete, pod, nullptr);
}

bool Cluster::UpdatePod(uint64_t number, const std::function<bool(ClusterPod*)>& change) {
  const ClusterPodRef before = FindPod(number);
  if (before == nullptr) return false;
  auto after = std::make_shared<ClusterPod>(*before);
  if (!change(after.get())) return false;
  if (after->deleting && after->finalizers.empty() && !after->awaits_kubelet) {
    RemovePod(before);
    return true;
  }
  after->relabelled = after->relabelled || before->labels != after->labels;
  pods_.Set(number, after);
  EmitPod(Action::kUpdate, before, after);
  return true;
}

Status Cluster::BindPod(uint64_t number, const std::string& node) {
  const ClusterPodRef pod = FindPod(number);
  if (pod == nullptr) return Error("the pod does not exist");
  if (pod->deleting) return Error("the pod is being deleted");
  if (!pod->node_name.empty()) return Error("the pod is bound already");
  UpdatePod(number, [&](ClusterPod* after) {
    after->node_name = node;
    if (options_.clears_nomination_at_bind) after->nominated_node_name.clear();
    SetCondition(after, {std::string(kPodScheduledCondition), "True", "", ""});
    return true;
  });
  return Status::Ok();
}

Result<ObjectHandle> Cluster::CreateClaim(std::shared_ptr<ClusterClaim> claim) {
  const std::string name = QualifiedName(claim->namespace_name, claim->name);
  if (claims_.count(name) != 0) return Error("ResourceClaim " + name + " exists already");
  claim->resource = Resource::kResourceClaim;
  claim->status_version = ++last_claim_version_;
  claim->uid = fmt::format("claim-{}", claim->status_version);
  ObjectHandle handle{"ResourceClaim", claim->namespace_name, claim->name};
  others_.emplace("ResourceClaim " + name, nullptr);
  claims_[name] = claim;
  Emit(Resource::kResourceClaim, Action::kAdd, nullptr, std::move(claim));
  return handle;
}

bool Cluster::UpdateClaim(const std::string& name,
                          const std::function<void(ClusterClaim*)>& change) {
  const auto found = claims_.find(name);
  if (found == claims_.end()) return false;
  const ClusterClaimRef before = found->second;
  auto after = std::make_shared<ClusterClaim>(*before);
  change(after.get());
  after->allocated = after->allocation != nullptr;
  if (!after->allocated) {
    after->allocated_at = {};
    after->device_statuses.clear();
  }
  if (!HaveSameStatus(*before, *after)) after->status_version = ++last_claim_version_;
  if (before->allocation != after->allocation) {
    if (before->allocation != nullptr) devices_.Release(*before->allocation);
    if (after->allocation != nullptr) TakeDevices(name, *after->allocation);
  }
  found->second = after;
  Emit(Resource::kResourceClaim, Action::kUpdate, before, after);
  return true;
}

// What is in use is taken all the same: the API server does not know devices.
void Cluster::TakeDevices(const std::string& claim, const DeviceAllocation& allocation) {
  for (const AllocatedDevice& device : allocation.devices) {
    if (devices_.IsFree(device)) continue;
    claim_faults_.push_back(
        fmt::format("device {} is given to {} while another claim has it", device.device, claim));
  }
  devices_.Take(allocation);
}

void Cluster::DropReservations(const std::vector<std::string>& claims, uint64_t pod) {
  for (const std::string& name : claims) {
    const ClusterClaimRef claim = FindClaim(name);
    if (claim == nullptr) continue;
    const auto& users = claim->reserved_for;
    if (std::find(users.begin(), users.end(), pod) == users.end()) continue;
    UpdateClaim(name, [pod](ClusterClaim* after) { std::erase(after->reserved_for, pod); });
  }
}

void Cluster::DeallocateIdleClaim(const std::string& name, uint64_t pod) {
  const ClusterClaimRef claim = FindClaim(name);
  if (claim == nullptr || claim->allocation == nullptr) return;
  if (!claim->reserved_groups.empty()) return;
  const auto& users = claim->reserved_for;
  if (!users.empty() && users != std::vector<uint64_t>{pod}) return;
  UpdateClaim(name, [](ClusterClaim* after) {
    after->allocation = nullptr;
    after->reserved_for.clear();
  });
}

ClusterClaimRef Cluster::FindClaim(const std::string& name) const {
  const auto found = claims_.find(name);
  return found == claims_.end() ? nullptr : found->second;
}

const ResourceClaimTemplateObject* Cluster::FindClaimTemplate(const std::string& name) const {
  const auto found = claim_templates_.find(name);
  if (found == claim_templates_.end()) return nullptr;
  return &std::get<ResourceClaimTemplateObject>(found->second->body);
}

void Cluster::CreateNamespace(const ApiObject& object, const ObjectHandle& handle) {
  auto made = std::make_shared<ClusterNamespace>();
  made->name = handle.name;
  made->labels = object.metadata.labels;
  AddLabels(&made->labels, {{"kubernetes.io/metadata.name", handle.name}});
  namespaces_[handle.name] = made;
  EmitNamespace(Action::kAdd, nullptr, std::move(made));
}

// Pods may be in a namespace that nobody has created.
Labels Cluster::NamespaceLabels(const std::string& name) const {
  const auto found = namespaces_.find(name);
  if (found != namespaces_.end()) return found->second->labels;
  return {{"kubernetes.io/metadata.name", name}};
}

void Cluster::CreateDevices(const ApiObject& object, const ObjectHandle& handle) {
  auto slice = std::make_shared<ClusterSlice>();
  FillView(slice.get(), Resource::kResourceSlice, object, handle);
  slice->slice =
      std::make_shared<const ResourceSliceObject>(std::get<ResourceSliceObject>(object.body));
  slices_[handle.name] = slice;
  devices_.SetSlice(handle.name, slice->slice);
  Emit(Resource::kResourceSlice, Action::kAdd, nullptr, std::move(slice));
}

void Cluster::CreateClass(const ApiObject& object, const ObjectHandle& handle) {
  auto device_class = std::make_shared<ClusterDeviceClass>();
  FillView(device_class.get(), Resource::kDeviceClass, object, handle);
  device_class->device_class = std::get<DeviceClassObject>(object.body);
  classes_[handle.name] = device_class;
  devices_.SetClass(handle.name, device_class->device_class);
  Emit(Resource::kDeviceClass, Action::kAdd, nullptr, std::move(device_class));
}

void Cluster::CreateTaintRule(const ApiObject& object, const ObjectHandle& handle) {
  auto rule = std::make_shared<ClusterTaintRule>();
  FillView(rule.get(), Resource::kResourceSlice, object, handle);
  rule->rule = std::get<DeviceTaintRuleObject>(object.body);
  taint_rules_[handle.name] = rule;
  devices_.SetTaintRule(handle.name, rule->rule);
  EmitTaintRule(Action::kAdd, nullptr, std::move(rule));
}

void Cluster::CreateGroup(const ApiObject& object, const ObjectHandle& handle) {
  auto made = std::make_shared<ClusterGroup>();
  const bool is_composite = handle.kind == kCompositeKind;
  FillView(made.get(), is_composite ? Resource::kCompositePodGroup : Resource::kPodGroup, object,
           handle);
  made->spec = std::get<PodGroupObject>(object.body);
  auto group = std::make_shared<PodGroup>();
  group->key = KeyOfGroup(handle);
  group->priority = made->spec.priority;
  if (!is_composite) group->min_count = made->spec.min_count;
  group->parent = made->spec.parent;
  made->min_count = group->min_count;
  made->group = std::move(group);
  groups_[made->group->key] = made;
  Emit(made->resource, Action::kAdd, nullptr, made);
}

void Cluster::DeleteGroup(const ObjectHandle& handle) {
  const auto gone = groups_.extract(KeyOfGroup(handle));
  const std::string& parent = gone.mapped()->group->parent;
  if (!parent.empty()) {
    lost_members_.insert({GroupKind::kComposite, handle.namespace_name, parent});
  }
  Emit(gone.mapped()->resource, Action::kDelete, gone.mapped(), nullptr);
}

ClusterGroupRef Cluster::FindGroup(const GroupKey& key) const {
  const auto found = groups_.find(key);
  return found == groups_.end() ? nullptr : found->second;
}

bool Cluster::SetGroupClaims(const GroupKey& key, const std::vector<GeneratedClaim>& claims) {
  const ClusterGroupRef before = FindGroup(key);
  if (before == nullptr) return false;
  auto after = std::make_shared<ClusterGroup>(*before);
  after->generated_claims = claims;
  groups_[key] = after;
  Emit(after->resource, Action::kUpdate, before, after);
  return true;
}

bool Cluster::SetGroupCondition(const GroupKey& key, const PodCondition& condition) {
  const ClusterGroupRef before = FindGroup(key);
  if (before == nullptr || before->condition == condition) return false;
  auto after = std::make_shared<ClusterGroup>(*before);
  after->condition = condition;
  groups_[key] = after;
  Emit(after->resource, Action::kUpdate, before, after);
  return true;
}

void Cluster::DeleteDeviceObject(const ObjectHandle& object) {
  if (object.kind == "ResourceSlice") {
    auto slice = slices_.extract(object.name);
    devices_.RemoveSlice(object.name);
    Emit(Resource::kResourceSlice, Action::kDelete, std::move(slice.mapped()), nullptr);
  } else if (object.kind == "DeviceClass") {
    auto device_class = classes_.extract(object.name);
    devices_.RemoveClass(object.name);
    Emit(Resource::kDeviceClass, Action::kDelete, std::move(device_class.mapped()), nullptr);
  } else if (object.kind == "DeviceTaintRule") {
    auto rule = taint_rules_.extract(object.name);
    devices_.RemoveTaintRule(object.name);
    EmitTaintRule(Action::kDelete, std::move(rule.mapped()), nullptr);
  } else if (object.kind == "ResourceClaimTemplate") {
    claim_templates_.erase(QualifiedName(object.namespace_name, object.name));
  }
}

void Cluster::EmitPod(Action action, const ClusterPodRef& before, const ClusterPodRef& after) {
  ClusterChange change;
  change.resource = Resource::kPod;
  change.action = action;
  change.pod_before = before;
  change.pod_after = after;
  Deliver(std::move(change));
}

void Cluster::Emit(Resource resource, Action action, ObjectRef before, ObjectRef after) {
  ClusterChange change;
  change.resource = resource;
  change.action = action;
  change.objects = {std::move(before), std::move(after)};
  Deliver(std::move(change));
}

void Cluster::EmitNamespace(Action action, ObjectRef before, ObjectRef after) {
  ClusterChange change;
  change.resource = Resource::kWildcard;
  change.is_namespace = true;
  change.action = action;
  change.objects = {std::move(before), std::move(after)};
  Deliver(std::move(change));
}

void Cluster::EmitTaintRule(Action action, ObjectRef before, ObjectRef after) {
  const DeviceTaintRuleObject& rule =
      static_cast<const ClusterTaintRule&>(after != nullptr ? *after : *before).rule;
  ClusterChange change;
  change.resource = Resource::kResourceSlice;
  change.is_taint_rule = true;
  change.action = action;
  change.objects = {std::move(before), std::move(after)};
  Deliver(std::move(change));
  for (const auto& [name, slice] : slices_) {
    const bool is_selected = (rule.driver.empty() || rule.driver == slice->slice->driver) &&
                             (rule.pool.empty() || rule.pool == slice->slice->pool);
    if (is_selected) Emit(Resource::kResourceSlice, Action::kUpdate, slice, slice);
  }
}

void Cluster::EmitBudget(Action action, ObjectRef before, ObjectRef after) {
  ClusterChange change;
  change.resource = Resource::kWildcard;
  change.is_budget = true;
  change.action = action;
  change.objects = {std::move(before), std::move(after)};
  Deliver(std::move(change));
}

void Cluster::CreateBudget(const ApiObject& object, const ObjectHandle& handle) {
  auto budget = std::make_shared<ClusterBudget>();
  FillView(budget.get(), Resource::kWildcard, object, handle);
  budget->spec = std::get<DisruptionBudgetObject>(object.body);
  budgets_[QualifiedName(handle.namespace_name, handle.name)] = budget;
  EmitBudget(Action::kAdd, nullptr, budget);
}

bool Cluster::SetBudgetStatus(const std::string& name, const BudgetStatus& status) {
  const auto found = budgets_.find(name);
  if (found == budgets_.end() || found->second->status == status) return false;
  const ClusterBudgetRef before = found->second;
  auto after = std::make_shared<ClusterBudget>(*before);
  after->status = status;
  found->second = after;
  EmitBudget(Action::kUpdate, before, after);
  return true;
}

// Timers of one instant run in the order in which they were set, so equal delays keep the order.
void Cluster::Deliver(ClusterChange change) {
  const Instant now = options_.clock->Now();
  const Instant at = faults_.DeliveryOf(change.resource, now + options_.informer_delay);
  if (options_.delivers_at_once && at <= now) {
    to_deliver_.push_back(std::move(change));
    if (!is_delivering_) DeliverWaiting();
    return;
  }
  options_.clock->At(at, [this, change = std::move(change)] {
    for (const Watcher& watcher : watchers_) watcher(change);
  });
}

void Cluster::DeliverWaiting() {
  is_delivering_ = true;
  for (; !to_deliver_.empty(); to_deliver_.pop_front()) {
    for (const Watcher& watcher : watchers_) watcher(to_deliver_.front());
  }
  is_delivering_ = false;
}

}  // namespace schedq

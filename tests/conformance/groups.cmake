# SCHEDQ_GROUPS_DIR (variable or environment) names the recordings of pod groups to replay. Tests
# get the answer as SCHEDQ_GROUP_RECORDINGS.
set(SCHEDQ_GROUPS_DIR "$ENV{SCHEDQ_GROUPS_DIR}" CACHE PATH "Folder of recorded traces of groups")
schedq_find_recordings(SCHEDQ_GROUP_RECORDINGS "${SCHEDQ_GROUPS_DIR}" conformance-groups
  recordings/groups)

schedq_test(conformance_groups KIND conformance
  SOURCES replay_groups_conformance_test.cc
  LINKS schedq_trace)
target_compile_definitions(conformance_groups PRIVATE
  SCHEDQ_GROUP_RECORDINGS="${SCHEDQ_GROUP_RECORDINGS}")

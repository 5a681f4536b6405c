-- Times are epoch milliseconds. Rows name each other by row number; ids that callers see are public_id.

create table organisations (
  id integer primary key,
  public_id text not null unique,
  slug text not null unique,
  name text not null,
  -- JSON: {bucket: requests per window}, only what the operator has set.
  limits text not null default '{}',
  -- JSON: the origins that the snippet may run on; empty for all.
  origins text not null default '[]',
  created_at integer not null
) strict;

create table snippet_keys (
  key text primary key,
  org_id integer not null references organisations (id),
  created_at integer not null,
  -- From then on the key is refused; null for the current key.
  retired_at integer
) strict, without rowid;
create index snippet_keys_by_org on snippet_keys (org_id);

create table flows (
  id integer primary key,
  public_id text not null unique,
  org_id integer not null references organisations (id),
  key text not null,
  status text not null check (status in ('draft', 'published', 'archived')),
  -- JSON FlowDefinition: what the next publication freezes; null when nothing is newer than the version.
  draft text,
  updated_at integer not null,
  unique (org_id, key)
) strict;

create table flow_versions (
  flow_id integer not null references flows (id),
  version integer not null,
  published_at integer not null,
  -- JSON Flow, as callers get it.
  body text not null,
  -- JSON: rows of its steps and items in order, so that old versions need not be read whole.
  step_rows text not null,
  item_rows text not null,
  primary key (flow_id, version)
) strict, without rowid;

-- A step's and an item's id belongs to its key within the flow, through all versions.
create table steps (
  id integer primary key,
  public_id text not null unique,
  flow_id integer not null references flows (id),
  key text not null,
  -- As the newest version that has the step calls it; null for one that was never published.
  title text,
  unique (flow_id, key)
) strict;

create table items (
  id integer primary key,
  public_id text not null unique,
  flow_id integer not null references flows (id),
  key text not null,
  unique (flow_id, key)
) strict;

-- One row per change of an organisation's keys, limits, origins or published flows: what readers
-- with a catalogue in memory must load again.
create table catalogue_changes (
  seq integer primary key autoincrement,
  org_id integer not null
) strict;

-- The ledger: what was reported, as it was reported. Append-only.
create table events (
  seq integer primary key,
  org_id integer not null,
  id text not null,
  kind integer not null,
  user_id text,
  anonymous_id text,
  flow_id integer,
  flow_version integer,
  step_id integer,
  item_id integer,
  run_id text,
  session_id text,
  -- Corrected for the sender's clock; what every number is made from.
  occurred_at integer not null,
  -- As the sender said; null where it said nothing.
  reported_at integer,
  received_at integer not null,
  url text,
  name text,
  reason text,
  -- JSON.
  properties text,
  source integer not null default 0
) strict;
create unique index events_by_id on events (org_id, id);
create index events_by_flow on events (org_id, flow_id, occurred_at) where flow_id is not null;

-- Projections: made from the ledger in the transaction that stores it; `cairn rebuild` makes them anew.

create table runs (
  id integer primary key,
  org_id integer not null,
  flow_id integer not null,
  run_key text not null,
  person text not null,
  least_user_id text,
  least_anonymous_id text,
  started_at integer not null,
  last_at integer not null,
  named_version integer,
  version integer not null,
  completed_at integer,
  dismissed_at integer,
  -- JSON [[step, viewed, completed, skipped, missing], …], ascending by step.
  steps text not null,
  -- What the run's own events say of start and completion; the columns above add what is assigned to it.
  own_started_at integer,
  own_completed_at integer
) strict;
create unique index runs_by_key on runs (org_id, flow_id, run_key);
create index runs_by_start on runs (org_id, flow_id, started_at);
create index runs_by_person on runs (org_id, flow_id, person, started_at, run_key);
-- Of runs that start at the same moment only the last can be completed by a loose fact.
create index runs_completed_loosely on runs (org_id, flow_id, person, started_at)
  where completed_at is not own_completed_at;

-- Completions and ticks without run or session, which belong to the person's latest run before them.
create table loose_facts (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  at integer not null,
  -- Whether it makes a run for a person who has none by then.
  opens integer not null,
  completes integer not null,
  primary key (org_id, flow_id, person, at, opens, completes)
) strict, without rowid;

create table ticks (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  item_id integer not null,
  at integer not null,
  ticked integer not null,
  primary key (org_id, flow_id, person, item_id, at, ticked)
) strict, without rowid;

-- How far a person is with a flow: when it was first reported complete, when the ticks first completed
-- it, and the latest tick or taking back, which the next taking back must be later than.
create table progress (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  reported_at integer,
  checklist_at integer,
  last_tick_at integer,
  primary key (org_id, flow_id, person)
) strict, without rowid;

create table step_reports (
  seq integer primary key,
  org_id integer not null,
  step_id integer not null,
  version integer not null,
  person text,
  outcome text not null,
  at integer not null,
  url text,
  selector text,
  match_count integer,
  wait_ms integer,
  snippet_version text,
  message text
) strict;
create index step_reports_by_step on step_reports (org_id, step_id, at);

-- Each person's latest report of a step's version.
create table step_health (
  org_id integer not null,
  step_id integer not null,
  version integer not null,
  person text not null,
  at integer not null,
  outcome text not null,
  primary key (org_id, step_id, version, person)
) strict, without rowid;
create index step_health_by_time on step_health (org_id, step_id, version, at, outcome);

create table step_baselines (
  org_id integer not null,
  step_id integer not null,
  -- JSON of the step's target when the baseline was taken: another target wants another baseline.
  target text not null,
  at integer not null,
  locale text,
  fingerprint text not null,
  primary key (org_id, step_id)
) strict, without rowid;

create table step_fingerprints (
  seq integer primary key,
  org_id integer not null,
  step_id integer not null,
  version integer not null,
  at integer not null,
  status text not null,
  score real not null,
  locale text,
  url text,
  snippet_version text,
  fingerprint text,
  suggested_selector text
) strict;
create index step_fingerprints_by_step on step_fingerprints (org_id, step_id, at);

create table presence (
  org_id integer primary key,
  key_used_first integer,
  key_used_last integer,
  flows_fetched_first integer,
  flows_fetched_last integer,
  heartbeat_first integer,
  heartbeat_last integer,
  events_flowing_first integer,
  events_flowing_last integer,
  snippet_version text,
  -- JSON: the latest clock skews seen, in milliseconds.
  skews text not null default '[]'
) strict;

-- Refused events and requests by hour: counts only.
create table refusals (
  org_id integer not null,
  hour integer not null,
  code text not null,
  count integer not null,
  primary key (org_id, hour, code)
) strict, without rowid;

create table dead_letters (
  seq integer primary key,
  org_id integer not null,
  at integer not null,
  error text not null,
  -- JSON of the event's row.
  event text not null
) strict;

-- What a running server tells other processes, such as the catalogue change it has taken up.
create table server_state (
  name text primary key,
  value integer not null
) strict, without rowid;

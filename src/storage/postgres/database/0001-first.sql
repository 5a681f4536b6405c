-- What a cluster of Cairn nodes keeps. Times are epoch milliseconds. Row numbers count within one organisation
-- or across all of them, as stated. Every table of an organisation's data begins with org_id.
--
-- Texts that are keys are compared and ordered by their bytes. That is faster, and an index in a language's
-- order becomes wrong once an update of the operating system changes that order.

-- The ledger: one row per event, for whoever wants to query events with SQL.
create table events (
  org_id bigint not null,
  -- The order of arrival within the organisation. It is the order of commits too, because only one
  -- transaction writes at a time.
  seq bigint not null,
  -- The day on which it was received: received_at / 86,400,000. Retention drops whole days.
  day integer not null,
  id text not null,
  kind text not null,
  -- How it arrived: events, complete, checklist_progress, custom_event.
  source text not null,
  user_id text,
  anonymous_id text,
  flow_id bigint,
  flow_version bigint,
  step_id bigint,
  item_id bigint,
  run_id text,
  session_id text,
  occurred_at bigint not null,
  -- When the page said that it occurred, if the server corrected the page's clock.
  reported_at bigint,
  received_at bigint not null,
  url text,
  name text,
  reason text,
  -- JSON as it was sent. Stored as text, because jsonb does not accept every character that JSON does.
  properties text,
  traits text,
  answer text,
  primary key (org_id, seq, day)
) partition by range (day);
create table events_default partition of events default;
create index events_by_flow on events (org_id, flow_id, seq);
-- For the words of an answer, which are stored only here: runs know just the step and the time.
create index events_answered on events (org_id, step_id, occurred_at) where kind = 'question_answered';

-- Every event id that was taken, for as long as it is remembered. Its bucket depends on the id alone, so that
-- ids stay unique although the table is partitioned: the week named by a UUID of version 7, -1 to -16 for any
-- other UUID, -17 for any other text.
create table event_ids (
  org_id bigint not null,
  bucket integer not null,
  id bytea not null,
  received_at bigint not null,
  primary key (org_id, bucket, id)
) partition by range (bucket);
create table event_ids_default partition of event_ids default;
create table event_ids_timeless partition of event_ids for values from (-17) to (0);

-- One row per organisation. Whoever writes its events, or changes what they mean, locks the row.
create table ledgers (
  org_id bigint primary key,
  -- The last number given to an event.
  seq bigint not null default 0,
  -- The last change in catalogue_log that concerns the organisation.
  change bigint not null default 0,
  -- When its newest event was received, by the clock of the node that stored it. Publications get a later time.
  latest_at bigint not null default 0,
  -- run_blocks has no run that starts at or after this time.
  sealed_until bigint not null default 0
);

-- Nodes take run numbers by the thousand. A number only has to differ from that of every other run.
create sequence run_ids increment by 1000;
create table runs (
  id bigint not null,
  org_id bigint not null,
  flow_id bigint not null,
  run_key text collate "C" not null,
  person text collate "C" not null,
  least_user_id text,
  least_anonymous_id text,
  started_at bigint not null,
  last_at bigint not null,
  named_version bigint,
  version bigint not null,
  completed_at bigint,
  dismissed_at bigint,
  steps text not null,
  own_started_at bigint,
  own_completed_at bigint,
  has_loose bigint not null default 0,
  loose_version bigint,
  traits text,
  answers text,
  primary key (org_id, flow_id, run_key)
) with (fillfactor = 80);
-- Without the organisation, which follows from the flow. PostgreSQL assumes that the two are independent: with
-- both, an index would look as good for finding a single run as the primary key does, and all runs of the flow
-- would be read for each one.
create index runs_by_start on runs (flow_id, started_at, id);
create index runs_by_person on runs (flow_id, person, started_at);
create index runs_with_answers on runs (flow_id, started_at, id) where answers is not null;

-- Segments: settled runs as columns for analytics, besides their rows. A segment is deleted with the first
-- change of one of its runs.
create table run_blocks (
  org_id bigint not null,
  flow_id bigint not null,
  -- Holds the runs that start at or after from_at and before to_at.
  from_at bigint not null,
  to_at bigint not null,
  runs bigint not null,
  -- How many versions the flow had, if one more would change the columns; otherwise null.
  flow_versions bigint,
  columns bytea not null,
  primary key (org_id, flow_id, from_at)
);
-- The columns hardly compress, so reading them uncompressed is faster.
alter table run_blocks alter column columns set storage external;

-- Flows with more stored than their runs alone say: events without a run, ticks, or runs that name several
-- people. For other flows a writer reads only the runs of its events.
create table joined_flows (
  org_id bigint not null,
  flow_id bigint not null,
  primary key (org_id, flow_id)
);
create table loose_facts (
  org_id bigint not null,
  flow_id bigint not null,
  person text collate "C" not null,
  at bigint not null,
  completes bigint not null,
  version bigint,
  primary key (org_id, flow_id, person, at, completes)
);
create table ticks (
  org_id bigint not null,
  flow_id bigint not null,
  person text collate "C" not null,
  item_id bigint not null,
  at bigint not null,
  ticked bigint not null,
  run_key text not null default '',
  primary key (org_id, flow_id, person, item_id, at, ticked)
);
create table progress (
  org_id bigint not null,
  flow_id bigint not null,
  person text collate "C" not null,
  checklist_at bigint,
  last_tick_at bigint,
  items text not null default '',
  primary key (org_id, flow_id, person)
);
-- The organisation's event number at the last change that the person's own browser is told about.
create table person_changes (
  org_id bigint not null,
  person text collate "C" not null,
  seq bigint not null,
  primary key (org_id, person)
);
create table completions (
  org_id bigint not null,
  flow_id bigint not null,
  person text collate "C" not null,
  reported_at bigint not null,
  primary key (org_id, flow_id, person)
);
create table checklist_completions (
  org_id bigint not null,
  flow_id bigint not null,
  person text collate "C" not null,
  at bigint not null,
  named text not null,
  run_key text collate "C" not null,
  primary key (org_id, flow_id, person, at)
);
create index checklist_completions_by_run on checklist_completions (flow_id, run_key, at);
create table run_people (
  org_id bigint not null,
  flow_id bigint not null,
  run_key text collate "C" not null,
  person text collate "C" not null,
  primary key (org_id, flow_id, run_key, person)
);
create index run_people_by_person on run_people (org_id, flow_id, person);
create table run_owners (
  org_id bigint not null,
  flow_id bigint not null,
  run_key text collate "C" not null,
  person text not null,
  primary key (org_id, flow_id, run_key)
);
create table held_out (
  org_id bigint not null,
  flow_id bigint not null,
  person text collate "C" not null,
  version bigint not null,
  at bigint not null,
  primary key (org_id, flow_id, person, version)
);
create table caused_events (
  org_id bigint not null,
  person text collate "C" not null,
  name text collate "C" not null,
  times text not null,
  primary key (org_id, person, name)
);
create table goals (
  org_id bigint not null,
  flow_id bigint not null,
  person text collate "C" not null,
  name text collate "C" not null,
  last_at bigint not null,
  primary key (org_id, flow_id, person, name)
);
create table deleted_events (
  org_id bigint not null,
  flow_id bigint not null,
  last_at bigint not null,
  primary key (org_id, flow_id)
);
create table dead_letters (
  seq bigint generated by default as identity primary key,
  org_id bigint not null,
  at bigint not null,
  error text not null,
  event text not null
);
create index dead_letters_by_org on dead_letters (org_id, seq);

create table presence (
  org_id bigint primary key,
  key_used_first bigint,
  key_used_last bigint,
  flows_fetched_first bigint,
  flows_fetched_last bigint,
  heartbeat_first bigint,
  heartbeat_last bigint,
  events_flowing_first bigint,
  events_flowing_last bigint,
  old_key_used_first bigint,
  old_key_used_last bigint,
  snippet_version text,
  skews text not null default '[]'
);
create table refusals (
  org_id bigint not null,
  hour bigint not null,
  code text collate "C" not null,
  count bigint not null,
  -- For minutes in which a limit was reached: the last one that is counted, because each node reports it.
  minute bigint,
  primary key (org_id, hour, code)
);
create table identity_counts (
  org_id bigint not null,
  hour bigint not null,
  verdict text collate "C" not null,
  count bigint not null,
  primary key (org_id, hour, verdict)
);

create table step_baselines (
  org_id bigint not null,
  step_id bigint not null,
  target text not null,
  at bigint not null,
  locale text,
  fingerprint text not null,
  primary key (org_id, step_id)
);
create table step_fingerprints (
  seq bigint generated by default as identity primary key,
  org_id bigint not null,
  step_id bigint not null,
  version bigint not null,
  at bigint not null,
  status text not null,
  score double precision not null,
  locale text,
  url text,
  snippet_version text,
  fingerprint text,
  suggested_selector text
);
create index step_fingerprints_by_step on step_fingerprints (org_id, step_id, at);
-- For retention, like step_reports_by_time below.
create index step_fingerprints_by_time on step_fingerprints (org_id, at);
create table step_health (
  org_id bigint not null,
  step_id bigint not null,
  version bigint not null,
  person text collate "C" not null,
  at bigint not null,
  outcome text collate "C" not null,
  primary key (org_id, step_id, version, person)
);
create index step_health_by_time on step_health (org_id, step_id, version, at, outcome);
create table step_reports (
  seq bigint generated by default as identity primary key,
  org_id bigint not null,
  step_id bigint not null,
  version bigint not null,
  person text,
  outcome text not null,
  at bigint not null,
  url text,
  selector text,
  match_count bigint,
  wait_ms bigint,
  snippet_version text,
  message text
);
create index step_reports_by_step on step_reports (org_id, step_id, at);
create index step_reports_by_time on step_reports (org_id, at);

-- What management keeps. Each node has a copy of these tables and follows catalogue_log.
create table organisations (
  id bigint primary key,
  public_id text collate "C" not null unique,
  slug text collate "C" not null unique,
  name text not null,
  limits text not null default '{}',
  origins text not null default '[]',
  created_at bigint not null,
  retention_days bigint,
  identity_mode text not null default 'off' check (identity_mode in ('off', 'observe', 'enforce')),
  honours_do_not_track bigint not null default 0,
  timezone text,
  traits text not null default '[]',
  theme text,
  throttle bigint
);
create table staging_links (
  org_id bigint not null,
  staging_org_id bigint primary key,
  linked_at bigint not null
);
create table snippet_keys (
  key text collate "C" primary key,
  org_id bigint not null,
  created_at bigint not null,
  retired_at bigint
);
create table identity_secrets (
  id bigint primary key,
  org_id bigint not null,
  secret text not null,
  created_at bigint not null,
  retired_at bigint
);
create table flows (
  id bigint primary key,
  public_id text collate "C" not null unique,
  org_id bigint not null,
  key text collate "C" not null,
  status text not null check (status in ('draft', 'published', 'archived')),
  draft text,
  updated_at bigint not null,
  source text,
  is_locked bigint not null default 0,
  unique (org_id, key)
);
create table flow_versions (
  flow_id bigint not null,
  version bigint not null,
  published_at bigint not null,
  body text not null,
  step_rows text not null,
  item_rows text not null,
  primary key (flow_id, version)
);
create table steps (
  id bigint primary key,
  public_id text collate "C" not null unique,
  flow_id bigint not null,
  key text collate "C" not null,
  title text,
  unique (flow_id, key)
);
create table items (
  id bigint primary key,
  public_id text collate "C" not null unique,
  flow_id bigint not null,
  key text collate "C" not null,
  unique (flow_id, key)
);
create table catalogue_changes (
  seq bigint primary key,
  org_id bigint not null
);
create table management_tokens (
  id bigint primary key,
  public_id text collate "C" not null unique,
  org_id bigint not null,
  name text not null,
  sha256 text collate "C" not null unique,
  scopes text not null,
  created_at bigint not null,
  expires_at bigint not null,
  last_used_at bigint,
  revoked_at bigint
);
create table dashboard_sessions (
  id bigint primary key,
  org_id bigint not null,
  sha256 text collate "C" not null unique,
  role text not null,
  name text not null,
  subject text,
  issuer text,
  sid text,
  created_at bigint not null,
  last_seen_at bigint not null,
  ends_at bigint not null
);
create table dashboard_links (
  id bigint primary key,
  org_id bigint not null,
  sha256 text collate "C" not null unique,
  role text not null,
  name text not null,
  expires_at bigint not null
);
create table alert_settings (
  org_id bigint primary key,
  settings text not null,
  revision bigint not null,
  reported_for text
);
create table alerts (
  id bigint primary key,
  org_id bigint not null,
  public_id text collate "C" not null unique,
  rule text not null,
  subject text not null,
  state text not null,
  streak bigint not null,
  facts text not null,
  since bigint not null,
  opened_at bigint,
  resolved_at bigint
);
create table webhooks (
  id bigint primary key,
  org_id bigint not null,
  public_id text collate "C" not null unique,
  url text not null,
  types text not null,
  secret text not null,
  old_secret text,
  old_secret_until bigint,
  created_at bigint not null,
  failing_since bigint,
  disabled_at bigint,
  disabled_why text
);
create table deliveries (
  id bigint primary key,
  org_id bigint not null,
  public_id text collate "C" not null unique,
  webhook text,
  mail text,
  type text not null,
  body text not null,
  created_at bigint not null,
  state text not null,
  due_at bigint,
  attempts bigint not null,
  last_at bigint,
  last_status bigint,
  last_fault text
);
create table audit_log (
  id bigint primary key,
  org_id bigint not null,
  at bigint not null,
  via text not null,
  actor text not null,
  request_id text,
  action text not null,
  subject text not null,
  before text,
  after text,
  note text
);
create table erasures (
  id bigint primary key,
  org_id bigint not null,
  key text collate "C" not null,
  person text collate "C" not null,
  asked_at bigint not null,
  secret text,
  finished_at bigint,
  receipt text,
  unique (org_id, key, person)
);
create table server_state (
  name text collate "C" primary key,
  value bigint not null
);

-- The number of the last change. Whoever makes a change locks it, so changes are numbered in commit order.
create table catalogue_clock (only_row boolean primary key default true check (only_row), seq bigint not null);
insert into catalogue_clock (seq) values (0);
-- Changes in the tables that nodes copy: a row's whole new content, or null if the row was deleted.
create table catalogue_log (
  seq bigint not null,
  place bigint not null,
  table_name text not null,
  key text not null,
  content text,
  at bigint not null,
  primary key (seq, place)
);

-- Running nodes, and the jobs that only one of them does at a time.
create table nodes (
  id text collate "C" primary key,
  name text not null,
  release text not null,
  -- The newest schema that it knows.
  schema bigint not null,
  started_at bigint not null,
  -- The last change that all of its threads know about.
  took_up bigint not null,
  lease_until timestamptz not null
);
create table jobs (
  name text collate "C" primary key,
  holder text not null,
  until timestamptz not null,
  -- How many times a node that does not hold the job has asked for it to be done soon.
  asked bigint not null default 0
);
-- Author sessions and links to previews. They end within hours, and any node may be asked about them.
create table short_lived (
  -- In the order in which they were begun.
  seq bigint generated by default as identity,
  kind text collate "C" not null,
  id text collate "C" not null,
  org_id bigint not null,
  -- What else it can be found by: hashes of secrets, and an origin.
  names text not null,
  -- How many characters are stored nowhere else.
  size bigint not null,
  forgotten_at bigint not null,
  content text not null,
  primary key (kind, id)
);
-- What arrives for organisations while somebody watches. None of it has to survive a crash.
create unlogged table watched (
  org_id bigint primary key,
  -- A new name each time somebody starts to watch or somebody is erased.
  name text not null,
  since bigint not null,
  asked_at timestamptz not null default clock_timestamp(),
  -- Everything that arrived, including what is not kept.
  count bigint not null default 0
);
create unlogged table watched_events (
  org_id bigint not null references watched on delete cascade,
  number bigint not null,
  event text not null,
  primary key (org_id, number)
);
-- One row per commit, kept for a day. A node that loses its connection before the answer finds out here whether
-- the commit was made. If there is no row, it writes one as not kept, so that nobody finds anything else later.
create table receipts (
  id uuid primary key,
  at timestamptz not null default now(),
  is_kept boolean not null default true
);
-- What a server alone keeps in files: its session key, versions of the snippet, the issuer's keys.
create table kept_files (name text collate "C" primary key, content bytea not null, at bigint not null);

-- The data directory that is being moved here, or was. No node may start before the move is done.
create table moves (
  -- Distinguishes it from any other directory.
  directory text collate "C" primary key,
  -- Identifies its state when the move began: a different mark means a different state.
  mark text not null,
  began_at bigint not null,
  state text not null default 'moving' check (state in ('moving', 'failed', 'done')),
  -- How far the move is: the current table, how many of its rows are here, and the key of the last one as JSON.
  table_name text not null default '',
  table_rows bigint not null default 0,
  last_key text
);

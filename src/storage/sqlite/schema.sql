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
  created_at integer not null,
  -- How many days raw events are kept; null where the server's setting holds.
  retention_days integer,
  -- Whether calls that name a user must prove it by a hash: not at all, only counted, or refused else.
  identity_mode text not null default 'off' check (identity_mode in ('off', 'observe', 'enforce')),
  -- Whether the organisation heeds browsers that ask not to be tracked.
  honours_do_not_track integer not null default 0 check (honours_do_not_track in (0, 1)),
  -- An IANA name; null for UTC.
  timezone text,
  -- JSON: the names of the traits of people that are stored and counted by.
  traits text not null default '[]',
  -- JSON: how flows look unless they say otherwise; null where nothing is set.
  theme text,
  -- How many times a day a person is interrupted at most; null for as often as flows are due.
  throttle integer
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
  -- Where the flow was pushed from last: JSON of repository, commit and path; null if unknown.
  source text,
  -- Whether it is changed there alone.
  is_locked integer not null default 0,
  unique (org_id, key)
) strict;

create table flow_versions (
  flow_id integer not null references flows (id),
  version integer not null,
  published_at integer not null,
  -- JSON FlowDefinition, as its author published it.
  definition text not null,
  -- JSON Flow, as pages get it: made from the definition when it is published.
  page text not null,
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

-- One row per change of an organisation's keys, limits, origins or published flows: what readers with a
-- catalogue in memory must load again. The newest change of an organisation is its revision.
create table catalogue_changes (
  seq integer primary key autoincrement,
  org_id integer not null
) strict;
create index catalogue_changes_by_org on catalogue_changes (org_id, seq);

-- Projections: made from the ledger; `cairn rebuild` makes them anew.
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
  -- Each step and when something happened to it: see `packSteps`. Ascending by step.
  steps text not null,
  -- What the run's own events say of start and completion; the columns above add what is assigned to it.
  own_started_at integer,
  own_completed_at integer,
  -- The least version that loose facts name which are assigned to the run.
  loose_version integer,
  -- The listed traits as reported when the run started: the time of that, fifteen digits, and a JSON object.
  traits text,
  -- What the run's person last answered to questions: JSON, [[step, time, answer], …], the answer itself JSON
  -- too; one in words is empty, because those are in the ledger alone.
  answers text
) strict;
create unique index runs_by_key on runs (flow_id, run_key);
create index runs_by_start on runs (org_id, flow_id, started_at);
create index runs_with_answers on runs (org_id, flow_id, started_at, id) where answers is not null;
-- With outcomes, so that people are filtered by them without reading runs.
create index runs_by_person on runs (org_id, flow_id, person, started_at, completed_at, dismissed_at);

create table ticks (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  item_id integer not null,
  at integer not null,
  ticked integer not null,
  -- The run that the tick names; empty where it names none, '-' for a time of which events are deleted.
  run_key text not null default '',
  primary key (org_id, flow_id, person, item_id, at, ticked)
) strict, without rowid;

-- How far a person is with a checklist: when the ticks first completed it, and the latest tick or taking back,
-- which the next taking back must be later than.
create table progress (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  checklist_at integer,
  last_tick_at integer,
  -- Items that were ever ticked by the people whose ticks count as this person's, separated by commas.
  items text not null default '',
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
  skews text not null default '[]',
  old_key_used_first integer,
  old_key_used_last integer
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

-- Numbers that belong to the database itself.
create table server_state (
  name text primary key,
  value integer not null
) strict, without rowid;

-- The ids of stored events: an id is stored once in an organisation, for as long as its event is kept.
create table event_ids (
  org_id integer not null,
  id text not null,
  -- The number of the row in `event_batches` times 256, plus the event's place in the batch.
  event integer not null,
  primary key (org_id, id)
) strict, without rowid;

-- The ledger: what was reported, as it was reported, up to 256 events a row. Append-only.
create table event_batches (
  -- In the order of arrival. An event's own number is 256 times this, plus its place in the row.
  seq integer primary key,
  org_id integer not null,
  -- When the last of its events was received.
  received_at integer not null,
  source integer not null,
  -- How many.
  events integer not null,
  -- The flows that they name, each between commas, and between which times those events occurred.
  flows text not null default '',
  first_at integer not null default 0,
  last_at integer not null default 0,
  -- The events: see `packed` in `ledger/event-batches.ts`.
  body blob not null,
  -- JSON: for which events of the batch published flows waited when it was stored, [place, max, goalOf] each.
  asked text
) strict;
-- Has all that tells which rows to read.
create index event_batches_by_org on event_batches (org_id, seq, flows, first_at, last_at);

-- Runs of a flow as columns, for analytics: all that started from `from_at` until before `to_at`, as they stand
-- in `runs`. A block whose runs change is deleted in the same transaction, and made anew later; what no block
-- covers is read from `runs`.
create table run_blocks (
  id integer primary key,
  org_id integer not null,
  flow_id integer not null,
  from_at integer not null,
  to_at integer not null,
  -- How many versions the flow had, where the block would be another with one more; null else.
  flow_versions integer,
  columns blob not null
) strict;
create unique index run_blocks_by_start on run_blocks (org_id, flow_id, from_at);

-- Of which flows the retention has deleted events, and until when those occurred. What runs, ticks and
-- completions say of that time cannot be made anew: a rebuild takes it as it is.
create table deleted_events (
  org_id integer not null,
  flow_id integer not null,
  last_at integer not null,
  primary key (org_id, flow_id)
) strict, without rowid;

-- People whose data was erased: what they report is refused from then on. Nothing here tells who they are without
-- the key of `erasures.jsonl`, which knows of them too, so that a restored older database learns of them again.
create table erasures (
  id integer primary key,
  org_id integer not null,
  -- The key of the hash, and the hash of the person under it.
  key text not null,
  person text not null,
  asked_at integer not null,
  -- What the names in place of theirs are made from; null once nothing is left to be renamed, so that
  -- nobody can tell whose they were.
  secret text,
  -- When no file held anything of theirs; null until then.
  finished_at integer,
  -- JSON: what was erased, in numbers.
  receipt text,
  unique (org_id, key, person)
) strict;

-- What identity hashes are made with: HMACs need the secret itself, so it stands here as it is.
create table identity_secrets (
  id integer primary key,
  org_id integer not null,
  secret text not null,
  created_at integer not null,
  -- Null for the current one, else when the one before it stops working.
  retired_at integer
) strict;
create index identity_secrets_by_org on identity_secrets (org_id);

-- Results of the checks of identity hashes by hour: counts only.
create table identity_counts (
  org_id integer not null,
  hour integer not null,
  verdict text not null,
  count integer not null,
  primary key (org_id, hour, verdict)
) strict, without rowid;

-- Runs that name several people, and whom: their ticks count together. A run that names one has no row.
create table run_people (
  org_id integer not null,
  flow_id integer not null,
  run_key text not null,
  person text not null,
  primary key (org_id, flow_id, run_key, person)
) strict, without rowid;
create index run_people_by_person on run_people (org_id, flow_id, person);

-- Whose a run was that several people are named in, one of whom was erased, where the names that are left would
-- say another. No event says it, so a rebuild takes it as it is.
create table run_owners (
  org_id integer not null,
  flow_id integer not null,
  run_key text not null,
  person text not null,
  primary key (org_id, flow_id, run_key)
) strict, without rowid;

-- Every time that a person's tick made a checklist whole: the run that the tick names, if any, and the run that
-- it completes, if there is one.
create table checklist_completions (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  at integer not null,
  named text not null,
  run_key text not null,
  primary key (org_id, flow_id, person, at)
) strict, without rowid;
create index checklist_completions_by_run on checklist_completions (org_id, flow_id, run_key, at)
  where run_key <> '';

-- Completions and ticks without run or session, which belong to the person's latest run before them.
create table loose_facts (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  at integer not null,
  completes integer not null,
  version integer,
  primary key (org_id, flow_id, person, at, completes)
) strict, without rowid;

-- Tokens by which programs manage an organisation: of each the hash alone, so that who reads this has none.
create table management_tokens (
  id integer primary key,
  public_id text not null unique,
  org_id integer not null,
  name text not null,
  sha256 text not null unique,
  -- A JSON array of what it may do.
  scopes text not null,
  created_at integer not null,
  expires_at integer not null,
  -- To the minute; null for one that was never used.
  last_used_at integer,
  revoked_at integer,
  -- The member who created it, if a member did.
  created_by_id text
) strict;
create index management_tokens_by_org on management_tokens (org_id);

-- Who changed what, written in the transaction of the change.
create table audit_log (
  id integer primary key,
  org_id integer not null,
  at integer not null,
  via text not null,
  actor text not null,
  request_id text,
  action text not null,
  subject text not null,
  -- JSON; null where there was nothing before, or is nothing after.
  before text,
  after text,
  note text
) strict;
create index audit_log_by_org on audit_log (org_id, id);
create index audit_log_by_subject on audit_log (org_id, subject, id);

-- People who may sign in to the dashboard.
create table members (
  id integer primary key,
  public_id text not null unique,
  org_id integer not null,
  name text not null,
  -- 0 until the person has given a name, if their link had none.
  is_named integer not null,
  role text not null,
  -- 1 if the identity provider gives the role.
  is_role_provided integer not null,
  method text not null,
  -- Who gives the identity, and the person there; the subject is empty for tokens that name nobody.
  issuer text not null,
  subject text not null,
  created_at integer not null,
  -- To the minute.
  last_seen_at integer not null
) strict;
create unique index members_by_identity on members (org_id, issuer, subject);

-- Who is signed in to the dashboard: of each cookie the hash alone, so that who reads this has none.
create table dashboard_sessions (
  id integer primary key,
  org_id integer not null,
  member_id integer not null,
  sha256 text not null unique,
  -- 1 if it gives no more than a viewer's role, whatever the member's is.
  is_read_only integer not null,
  -- The session at the identity provider; null where there is none.
  sid text,
  created_at integer not null,
  -- To the minute.
  last_seen_at integer not null,
  idle_ms integer not null,
  ends_at integer not null
) strict;
create index dashboard_sessions_by_org on dashboard_sessions (org_id);
create index dashboard_sessions_by_member on dashboard_sessions (member_id);

-- Links that sign a person in, once: of each code the hash alone.
create table dashboard_links (
  id integer primary key,
  org_id integer not null,
  sha256 text not null unique,
  public_id text not null unique,
  method text not null,
  -- Of the member who signs in.
  issuer text not null,
  subject text not null,
  name text not null,
  is_named integer not null,
  -- Null for a member who keeps their role.
  role text,
  created_by text not null,
  -- The member who created it, if a member did.
  created_by_id text,
  created_at integer not null,
  expires_at integer not null
) strict;
create index dashboard_links_by_org on dashboard_links (org_id);

-- Images that steps show. Their id is a hash of organisation and content, so that no other organisation can tell.
create table images (
  id text primary key,
  org_id integer not null,
  type text not null,
  width integer not null,
  height integer not null,
  bytes integer not null,
  -- Name of the uploaded file. Null if unknown.
  name text,
  created_at integer not null,
  content blob not null
) strict;
create index images_by_org on images (org_id, created_at, bytes);

-- What an organisation is alerted to. It has no row before its first change.
create table alert_settings (
  org_id integer primary key,
  -- JSON: which rules are on, and the recipients of the weekly report.
  settings text not null,
  -- The Monday, in the organisation's zone, for which the newest weekly report was made.
  reported_for text
) strict;

-- Problems, open or resolved.
create table alerts (
  id integer primary key,
  org_id integer not null,
  public_id text not null unique,
  rule text not null,
  subject text not null,
  -- JSON: what the rule found, without personal data.
  facts text not null,
  since integer not null,
  opened_at integer not null,
  -- Null while it is open.
  resolved_at integer
) strict;
create index alerts_by_org on alerts (org_id, resolved_at);

-- Where messages are posted to. The secrets sign messages, so they are stored as they are.
create table webhooks (
  id integer primary key,
  org_id integer not null,
  public_id text not null unique,
  url text not null,
  -- JSON array of types; empty for all.
  types text not null,
  secret text not null,
  -- The previous secret, which also signs until old_secret_until.
  old_secret text,
  old_secret_until integer,
  created_at integer not null,
  -- Since when nothing has arrived. Null if the latest message arrived.
  failing_since integer,
  disabled_at integer,
  disabled_why text
) strict;
create index webhooks_by_org on webhooks (org_id);

-- Messages of the last seven days, to a webhook or by mail.
create table deliveries (
  id integer primary key,
  org_id integer not null,
  public_id text not null unique,
  -- The webhook's public id, or null for mail.
  webhook text,
  mail text,
  type text not null,
  body text not null,
  created_at integer not null,
  -- pending, delivered or failed
  state text not null,
  -- When the next attempt is due. Null if there will be none.
  next_at integer,
  attempts integer not null,
  last_at integer,
  -- HTTP status of the last response, or why there was none.
  status integer,
  fault text
) strict;
create index deliveries_due on deliveries (next_at) where next_at is not null;
create index deliveries_by_target on deliveries (org_id, webhook, id);

-- Which organisation tries flows for which other: from there they are promoted. Each for one at most.
create table staging_links (
  -- The organisation that flows are promoted to.
  org_id integer not null,
  staging_org_id integer primary key,
  linked_at integer not null
) strict;
create index staging_links_by_org on staging_links (org_id);

-- Filters of people with a name.
create table segments (
  id integer primary key,
  org_id integer not null,
  public_id text not null unique,
  name text not null,
  -- JSON: a PeopleFilter.
  filter text not null,
  -- Changes with every change, so that nobody overwrites what they have not read.
  revision integer not null,
  changed_at integer not null,
  unique (org_id, name)
) strict;

-- What people have caused, of the custom events that published flows wait for: JSON of the latest times, each as
-- minutes since 1970 and a mark by which a page knows its own events.
create table caused_events (
  org_id integer not null,
  person text not null,
  name text not null,
  times text not null,
  primary key (org_id, person, name)
) strict, without rowid;

-- People as events show them; who was erased has no row, nor who was not seen after `retained.at`.
create table people (
  org_id integer not null,
  person text not null,
  first_at integer not null,
  last_at integer not null,
  -- JSON, by name: [[name, value, time], ...], listed traits as last reported.
  traits text not null,
  -- JSON, latest first: [[page, time], ...], see `core/person/seen.ts`.
  pages text not null,
  primary key (org_id, person)
) strict, without rowid;
create index people_by_last on people (org_id, last_at, person);
create index people_by_first on people (org_id, first_at, person);

-- Who was held back from a version of a flow, and when first.
create table held_out (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  version integer not null,
  at integer not null,
  primary key (org_id, flow_id, person, version)
) strict, without rowid;

-- When people last reached the goal of a flow, by the name of its event.
create table goals (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  name text not null,
  last_at integer not null,
  primary key (org_id, flow_id, person, name)
) strict, without rowid;

-- When a person was first reported to have completed a flow.
create table completions (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  reported_at integer not null,
  primary key (org_id, flow_id, person)
) strict, without rowid;

-- Messages that somebody has sent on demand in the last seven days, to bound them over restarts and nodes.
create table requested_sends (
  id integer primary key,
  org_id integer not null,
  -- confirmation, report or webhook
  kind text not null,
  -- Of a mail, in the form in which addresses are compared; null for a webhook.
  address text,
  at integer not null
) strict;
create index requested_sends_by_org on requested_sends (org_id, kind, at);
create index requested_sends_by_address on requested_sends (address, kind, at);

-- Several machines follow one log: which this database follows, and how far it has come; no row for a server alone.
create table log_position (
  only_one integer primary key check (only_one = 1),
  log text not null,
  seq integer not null,
  mark text not null,
  at integer not null
) strict;

-- Tickets of pages, and the activity that somebody watches, as JSON.
create table short_lived (
  kind text not null,
  id text not null,
  content text not null,
  primary key (kind, id)
) strict, without rowid;

-- Up to which row of the ledger an organisation's events were kept for long enough, so that they are deleted.
create table retained (
  org_id integer primary key,
  seq integer not null,
  -- When that row was received. Nothing from events up to then is kept about people.
  at integer not null
) strict;

-- What a server alone has in files: its session key, and versions of the snippet.
create table shared_files (
  name text primary key,
  content text not null
) strict, without rowid;

-- Requested rebuilds: every machine makes each of them.
create table rebuilds (
  id integer primary key,
  at integer not null
) strict;

-- The latest line about each person on the list of erasures, which every machine has as a file too.
create table listed_erasures (
  org text not null,
  key text not null,
  person text not null,
  action text not null,
  -- Epoch milliseconds.
  at integer not null,
  primary key (org, key, person)
) strict;

insert into server_state (name, value) values
  -- Up to which row of the ledger all is projected: what comes after is read again at a start.
  ('projected', 0),
  -- Grows with every change of `erasures`.
  ('erasures_changed', 0),
  -- People stand in blocks by a hash that nobody outside can know.
  ('people_seed_1', random() % 2147483648),
  ('people_seed_2', random() % 2147483648);

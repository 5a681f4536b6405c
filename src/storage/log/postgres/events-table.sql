-- Every event as a row, for people who query them. Columns keep their names and meanings.
create table events (
  -- Both together are the order of arrival.
  seq bigint not null,
  place integer not null,
  org_id text not null,
  id text not null,
  kind text not null,
  source text not null,
  user_id text,
  anonymous_id text,
  flow_id text,
  flow_key text,
  flow_version bigint,
  step_id text,
  step_key text,
  item_id text,
  item_key text,
  run_id text,
  session_id text,
  occurred_at timestamptz not null,
  reported_at timestamptz,
  received_at timestamptz not null,
  url text,
  name text,
  reason text,
  -- Not jsonb, which does not accept every character that JSON does.
  properties json,
  traits json,
  primary key (seq, place)
);
-- Rows are in the order of arrival, so a few pages find a day.
create index events_by_receipt on events using brin (received_at) with (autosummarize = on);

-- One row: how far the log is copied.
create table cairn_events_copied (
  only_one boolean primary key default true check (only_one),
  seq bigint not null
);
insert into cairn_events_copied (seq) values (0);

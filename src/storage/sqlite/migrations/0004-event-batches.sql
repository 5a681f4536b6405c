-- A row an event, with an index over each, was half of what storing costs. The ledger holds a row a
-- batch now, and its events as text; `storage/event-text.ts` says how.
create table event_batches (
  -- In the order of arrival. An event's own number is 64 times this, plus its place in the batch.
  seq integer primary key,
  org_id integer not null,
  received_at integer not null,
  -- How much later each further batch that shares the row was received, milliseconds.
  later text not null default '',
  source integer not null,
  -- How many.
  events integer not null,
  -- UTF-8: what projections go by, and what only exports show.
  facts blob not null,
  details blob not null
) strict;

-- Which batches hold events of a flow, and between which times those occurred.
create table event_batch_flows (
  org_id integer not null,
  flow_id integer not null,
  seq integer not null,
  first_at integer not null,
  last_at integer not null,
  primary key (org_id, flow_id, seq)
) strict, without rowid;

-- Events have other numbers than before: their ids are read again at the next start.
delete from event_id_chunks;
delete from event_id_runs;
update server_state set value = 0 where name = 'event_ids_sealed';

drop table events;

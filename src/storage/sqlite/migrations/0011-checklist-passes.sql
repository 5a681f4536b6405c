-- Runs that name several people, and whom: their ticks count together. A run that names one has no row.
create table run_people (
  org_id integer not null,
  flow_id integer not null,
  run_key text not null,
  person text not null,
  primary key (org_id, flow_id, run_key, person)
) strict, without rowid;
create index run_people_by_person on run_people (org_id, flow_id, person);

-- Whose a run was that several people are named in, one of whom was erased, where the names that are
-- left would say another. No event says it, so a rebuild takes it as it is.
create table run_owners (
  org_id integer not null,
  flow_id integer not null,
  run_key text not null,
  person text not null,
  primary key (org_id, flow_id, run_key)
) strict, without rowid;

-- The run that a tick names; empty where it names none. Ticks of a time of which events are deleted
-- complete what they did, and nothing else: '-' is no run's key.
alter table ticks add column run_key text not null default '';
update ticks set run_key = '-'
where exists (
  select 1 from deleted_events d
  where d.org_id = ticks.org_id and d.flow_id = ticks.flow_id and ticks.at <= d.last_at
) and not exists (
  select 1 from progress p
  where p.org_id = ticks.org_id and p.flow_id = ticks.flow_id and p.person = ticks.person
    and p.checklist_at = ticks.at
);

-- Every time that a person's tick made a checklist whole: the run that the tick names, if any, and
-- the run that it completes, if there is one.
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

-- Items that were ever ticked by the people whose ticks count as a person's, separated by commas.
alter table progress add column items text not null default '';

-- Loose facts name versions, and checklists are completed without them.
create table loose_facts_with_versions (
  org_id integer not null,
  flow_id integer not null,
  person text not null,
  at integer not null,
  completes integer not null,
  version integer,
  primary key (org_id, flow_id, person, at, completes)
) strict, without rowid;
insert into loose_facts_with_versions (org_id, flow_id, person, at, completes)
select org_id, flow_id, person, at, completes from loose_facts where opens = 1;
drop table loose_facts;
alter table loose_facts_with_versions rename to loose_facts;

-- The least version that loose facts name which are assigned to the run.
alter table runs add column loose_version integer;
drop index runs_completed_loosely;
create index runs_changed_loosely on runs (org_id, flow_id, person, started_at)
  where completed_at is not own_completed_at or loose_version is not null;

-- Blocks tell which runs were heard of of late.
delete from run_blocks;

-- All of it is made from the ledger, once every step is applied.
insert into server_state (name, value)
select 'rebuild_due', 1 where exists (select 1 from event_batches);

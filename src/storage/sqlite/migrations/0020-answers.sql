-- What the run's person last answered to questions: JSON, [[step, time, answer], …], the answer itself JSON
-- too; one in words is empty, for these stand in the ledger alone.
alter table runs add column answers text;
create index runs_with_answers on runs (org_id, flow_id, started_at, id) where answers is not null;

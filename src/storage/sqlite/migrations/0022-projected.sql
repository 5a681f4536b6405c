-- Up to which row of the ledger all is projected: what comes after is read again at a start.
insert into server_state (name, value)
select 'projected', max(
  coalesce((select max(seq) from event_batches), 0),
  coalesce((select value from server_state where name = 'ledger_deleted'), 0)
);

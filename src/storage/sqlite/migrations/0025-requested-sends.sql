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

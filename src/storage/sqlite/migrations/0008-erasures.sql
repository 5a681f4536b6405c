-- People whose data was erased: what they report is refused from then on. Nothing here tells who they
-- are without the key of `erasures.jsonl`, which knows of them too, so that a restored older database
-- learns of them again; `storage/erasure` keeps both.
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
  -- When no file held anything of theirs any more; null until then.
  finished_at integer,
  -- JSON: what was erased, in numbers.
  receipt text,
  unique (org_id, key, person)
) strict;

insert into server_state (name, value) values
  -- Grows with every change of the table above.
  ('erasures_changed', 0);

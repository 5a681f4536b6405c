-- wrk's script for POST /events: realistic batches, five events a run, every id new. Built from pieces
-- made beforehand, so that the load costs less than what it measures.
--
-- Environment: BENCH_KEYS (a file with "key flow step step step" a line), BENCH_BATCH (events a
-- request), BENCH_IDS (v7 or v4), BENCH_NONCE (tells this load's ids from all others), BENCH_PATH.
local batch = tonumber(os.getenv("BENCH_BATCH") or "50")
local ids = os.getenv("BENCH_IDS") or "v7"
local nonce = tonumber(os.getenv("BENCH_NONCE") or "1")
local path = os.getenv("BENCH_PATH") or "/api/v1/events"

local orgs = {}
for line in io.lines(os.getenv("BENCH_KEYS")) do
  local org = {}
  for word in line:gmatch("%S+") do org[#org + 1] = word end
  orgs[#orgs + 1] = org
end

local threads = 0
function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

-- Four hexadecimal digits for every number below 65,536.
local hex = {}
for i = 0, 65535 do hex[i] = string.format("%04x", i) end

local floor, random = math.floor, math.random
local count, run = 0, 0
local head, tails = "", {}

function init()
  math.randomseed(nonce * 1000 + number)
  local at = os.date("!%Y-%m-%dT%H:%M:%S.000Z", os.time() - 5)
  head = string.format("%08x-", nonce)
  for i = 1, 900 do
    tails[i] = '","occurredAt":"' .. at .. '","url":"https://app.example.com/projects/' .. i ..
      '","properties":{"plan":"pro","seats":' .. (i % 50) .. ',"locale":"en-GB"}}'
  end
end

local function id()
  count = count + 1
  if ids == "v4" then
    return hex[random(0, 65535)] .. hex[random(0, 65535)] .. "-" .. hex[random(0, 65535)] .. "-4a1b-8c2d-" ..
      hex[random(0, 65535)] .. hex[random(0, 65535)] .. hex[count % 65536]
  end
  return head .. hex[floor(count / 65536) % 65536] .. "-7000-8" .. "00" .. number .. "-00000000" .. hex[count % 65536]
end

local kinds = { "flow_started", "step_viewed", "step_completed", "step_viewed", "flow_completed" }
local begins = {}

-- What stands between an event's id and its person, for each organisation and place in a run.
local function between(org)
  local made = begins[org]
  if made then return made end
  made = {}
  for k, kind in ipairs(kinds) do
    local step = (k == 2 or k == 3) and org[3] or k == 4 and org[4]
    made[k] = '","kind":"' .. kind .. '","flowId":"' .. org[2] .. '",' ..
      (step and '"stepId":"' .. step .. '",' or "") .. '"flowVersion":1,"userId":"user-'
  end
  begins[org] = made
  return made
end

local parts = {}

function request()
  local org = orgs[(run + number * 37) % #orgs + 1]
  local begin = between(org)
  local n = 1
  parts[1] = '{"events":['
  local person
  for i = 1, batch do
    local k = (i - 1) % 5 + 1
    if k == 1 or i == 1 then
      run = run + 1
      local name = nonce .. "-" .. number .. "-" .. run
      person = (run % 50000) .. '","runId":"run-' .. name .. '","sessionId":"sess-' .. name
    end
    parts[n + 1] = i == 1 and '{"id":"' or ',{"id":"'
    parts[n + 2] = id()
    parts[n + 3] = begin[k]
    parts[n + 4] = person
    parts[n + 5] = tails[count % 900 + 1]
    n = n + 5
  end
  parts[n + 1] = "]}"
  local body = table.concat(parts, "", 1, n + 1)
  return "POST " .. path .. " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " .. org[1] ..
    "\r\nContent-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('JSON {"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end

-- Claims: see src/shared/claims.ts. A question and its answers are here for a few seconds.

local question_ms = '10000'

-- Asks for the gateways of a claim: the question, which may be asked again. The reply goes on with the answers so far.
register('claim_ask', function(root, args)
  redis.call('SET', root .. 'claims:asked:' .. args[1], '1', 'PX', question_ms)
  redis.call('PUBLISH', root .. 'claims', args[1])
  local reply = { whole(now_ms()) }
  for _, id in ipairs(redis.call('SMEMBERS', root .. 'claims:answers:' .. args[1])) do
    reply[#reply + 1] = id
  end
  return reply
end)

-- Answers a question, unless it was asked in another database of the server: the question, the id of the claim.
register('claim_answer', function(root, args)
  if redis.call('EXISTS', root .. 'claims:asked:' .. args[1]) == 1 then
    local answers = root .. 'claims:answers:' .. args[1]
    redis.call('SADD', answers, args[2])
    redis.call('PEXPIRE', answers, question_ms)
  end
  return { whole(now_ms()) }
end)

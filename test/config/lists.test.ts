import { describe, expect, test } from 'vitest'
import { fileWithModels, listProblems, loadValid } from './support.ts'

const withWebhooks = 'auth.enabled = true\nwebhooks.url = "https://hooks.example.com"\n'

describe('lists without duplicates', () => {
  test.each([
    ['webhooks.events', '[]', 'webhooks.events (line 3): must not be empty'],
    [
      'webhooks.events',
      '["key.deleted", "key.deleted"]',
      'webhooks.events[1] (line 3): is listed twice',
    ],
    ['webhooks.thresholds', '[50, 50]', 'webhooks.thresholds[1] (line 3): is listed twice'],
    [
      'webhooks.thresholds',
      '[101]',
      'webhooks.thresholds[0] (line 3): must be a whole number from 1 to 100',
    ],
    [
      'webhooks.thresholds',
      '[0]',
      'webhooks.thresholds[0] (line 3): must not be 0: must be a whole number from 1 to 100',
    ],
    [
      'image_fetch.allowed_schemes',
      '[]',
      'image_fetch.allowed_schemes (line 3): must not be empty',
    ],
    [
      'image_fetch.allowed_schemes',
      '["ftp"]',
      'image_fetch.allowed_schemes[0] (line 3): must be "https" or "http"',
    ],
    [
      'image_fetch.allowed_hosts',
      '"a.com"',
      'image_fetch.allowed_hosts (line 3): must be an array',
    ],
    [
      'image_fetch.allowed_hosts',
      '["a.com", 3]',
      'image_fetch.allowed_hosts[1] (line 3): must be a string',
    ],
    [
      'image_fetch.allowed_hosts',
      '["A.com", "a.com"]',
      'image_fetch.allowed_hosts[1] (line 3): is listed twice',
    ],
  ])('%s = %s is refused', async (setting, value, problem) => {
    expect(await listProblems(`${withWebhooks}${setting} = ${value}`)).toEqual([problem])
  })

  test.each(['capabilities', 'modalities'])('%s of a model must not be empty', async (setting) => {
    expect(await listProblems(fileWithModels({ m: `${setting} = []` }))).toEqual([
      `providers[0].models[0].${setting} (line 6): must not be empty`,
    ])
  })

  test('thresholds may be empty', async () => {
    const { webhooks } = await loadValid(`${withWebhooks}webhooks.thresholds = []`)
    expect(webhooks?.thresholds).toEqual([])
  })

  test('thresholds are sorted', async () => {
    const { webhooks } = await loadValid(`${withWebhooks}webhooks.thresholds = [95, 5, 50]`)
    expect(webhooks?.thresholds).toEqual([5, 50, 95])
  })

  test('an unknown event names the nearest one', async () => {
    expect(await listProblems(`${withWebhooks}webhooks.events = ["key.rotate"]`)).toEqual([
      'webhooks.events[0] (line 3): must be "budget.threshold", "budget.exhausted", "key.disabled", "key.rotated", or "key.deleted"; did you mean "key.rotated"?',
    ])
  })
})

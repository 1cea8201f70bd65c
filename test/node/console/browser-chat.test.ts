import type { Page, Route } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { deferred } from '../support/servers.ts'
import { expectText, goTo, hasBrowser, openBrowser, visit } from './visit.ts'

/* The chat of the console in a browser. */

openBrowser()

async function openChat(tab: Page): Promise<void> {
  await goTo(tab, 'Chat')
  await tab.getByLabel('Message').waitFor()
}

async function say(tab: Page, text: string): Promise<void> {
  await tab.getByLabel('Message').fill(text)
  await tab.keyboard.press('Enter')
}

const turnsOf = (tab: Page) => tab.locator('.turn')

interface Sent {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content: string }[]
}

/** Answers the chat requests of a page, in their order, and keeps what was asked. */
async function answerWith(tab: Page, answers: ((route: Route) => Promise<void>)[]) {
  const sent: Sent[] = []
  await tab.route('**/v1/chat/completions', (route) => {
    sent.push(JSON.parse(route.request().postData() ?? '{}'))
    return answers[sent.length - 1]?.(route)
  })
  return sent
}

const refuse = (route: Route) =>
  route.fulfill({ status: 503, json: { error: { message: 'all links have failed' } } })

/** Answers with a text as a stream, which ends without its terminator when it is cut. */
function stream(text: string, { isCut = false, reason = 'stop' } = {}) {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`
  const body =
    chunk({ content: text }, null) + (isCut ? '' : `${chunk({}, reason)}data: [DONE]\n\n`)
  return (route: Route) => route.fulfill({ contentType: 'text/event-stream', body })
}

describe.skipIf(!hasBrowser)('the chat in a browser', () => {
  test('the chat streams an answer', async () => {
    const { tab } = await visit()
    await openChat(tab)
    await say(tab, 'What is a gateway for?')
    await expectText(tab, 'You said: What is a gateway for?')
  })

  test('a message that is sent before the models are known waits for them', async () => {
    const { tab } = await visit()
    const { promise: typed, resolve: release } = deferred()
    await tab.route('**/api/v1/models', async (route) => {
      await typed
      await route.continue()
    })
    await openChat(tab)
    await say(tab, 'Am I early?')
    await tab.getByRole('button', { name: 'Stop' }).waitFor()
    release()
    await expectText(tab, 'You said: Am I early?')
  })

  test('a message that is sent as soon as there is a box for it waits for the models', async () => {
    const { tab } = await visit()
    await tab.evaluate(`
      new MutationObserver((_, observer) => {
        const box = document.querySelector('[name="question"]')
        if (!box) return
        observer.disconnect()
        box.value = 'Am I early?'
        box.form.requestSubmit()
      }).observe(document.body, { childList: true, subtree: true })
    `)
    await goTo(tab, 'Chat')
    await expectText(tab, 'You said: Am I early?')
  })

  test('a failed turn says why, is no part of the history, and can be tried again', async () => {
    const { tab } = await visit()
    const answers = [stream('one'), refuse, stream('thr', { isCut: true }), stream('four')]
    const sent = await answerWith(tab, [...answers, stream('two')])
    await openChat(tab)
    await say(tab, 'first')
    await expectText(tab, 'one')
    await say(tab, 'second')
    await turnsOf(tab).nth(1).getByRole('alert').getByText('all links have failed').waitFor()
    await say(tab, 'third')
    await turnsOf(tab).nth(2).getByRole('alert').getByText('the stream broke off').waitFor()
    expect(await turnsOf(tab).nth(2).innerText()).toContain('thr')
    await say(tab, 'fourth')
    await expectText(tab, 'four')
    // The errors stay where they belong.
    expect(await tab.getByRole('alert').count()).toBe(2)
    const questions = (at: number) => sent[at]?.messages.map(({ content }) => content)
    expect(questions(3)).toEqual(['first', 'one', 'fourth'])
    await turnsOf(tab).nth(1).getByRole('button', { name: 'Retry' }).click()
    await expectText(tab, 'two')
    expect(questions(4)).toEqual(['first', 'one', 'second'])
    expect(await tab.getByRole('alert').count()).toBe(1)
  })

  test('an answer shows who served it, how fast, what it cost and why it ended', async () => {
    const { tab } = await visit()
    await openChat(tab)
    await say(tab, 'What is a gateway for?')
    const outcome = turnsOf(tab).locator('.outcome')
    await outcome.getByText(/\$0\.000\d+/).waitFor()
    expect(await outcome.innerText()).toMatch(
      /^demo by demo · \d+ tokens · first text after \d+ ms · .+ in all · \$0\.000\d+ · complete/,
    )
    await outcome.getByRole('link', { name: 'Request' }).click()
    await expect.poll(() => new URL(tab.url()).hash).toMatch(/^#requests\?q=[\w-]+$/)
  })

  test('an answer that reached its limit says so', async () => {
    const { tab } = await visit()
    await answerWith(tab, [stream('half of', { reason: 'length' })])
    await openChat(tab)
    await say(tab, 'Go on')
    await expectText(tab, /cut off at the limit of tokens/)
  })

  test('the system prompt leads the conversation', async () => {
    const { tab } = await visit()
    const sent = await answerWith(tab, [stream('a'), stream('b')])
    await openChat(tab)
    await tab.getByText('System prompt').click()
    await tab.getByLabel('System prompt').fill('Answer in one word.')
    await say(tab, 'first')
    await expectText(tab, 'a')
    await say(tab, 'second')
    await expectText(tab, 'b')
    expect(sent[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ])
    expect(sent[1]?.messages[0]?.content).toBe('Answer in one word.')
  })

  test('Markdown is rendered, and nothing in it becomes HTML, loads or leads astray', async () => {
    const { tab } = await visit()
    const text = [
      '# Title',
      'A **bold** `code` &lt;tag&gt; <img src=x onerror="window.hit = 1"> <script>window.hit = 1</script>',
      '[bad](javascript:window.hit=1) [data](data:text/html,x) [inside](/session) [good](https://example.org/a?b=1&c=2)',
      '![picture](https://example.org/pixel.png)',
      '<div onclick="window.hit = 1">block</div>',
      '```js\nconst a = "<b>"\n```',
      '| a | b |\n|---|--:|\n| 1 | 2 |',
      '- [x] done\n- open',
    ].join('\n\n')
    await answerWith(tab, [stream(text)])
    await openChat(tab)
    await say(tab, 'Show me')
    const answer = tab.locator('.markdown')
    await answer.getByRole('heading', { name: 'Title' }).waitFor()
    expect(await answer.locator('strong').innerText()).toBe('bold')
    expect(await answer.locator('pre').innerText()).toContain('const a = "<b>"')
    expect(await answer.locator('td').allInnerTexts()).toEqual(['1', '2'])
    expect(await answer.locator('li').allInnerTexts()).toEqual(['☑ done', 'open'])
    const said = await answer.innerText()
    expect(said).toContain('<tag>')
    expect(said).toContain('<img src=x onerror="window.hit = 1">')
    expect(said).toContain('<div onclick="window.hit = 1">block</div>')
    const links = await tab.evaluate<string[][]>(
      "[...document.querySelectorAll('.markdown a')].map((a) => [a.textContent, a.href, a.rel])",
    )
    expect(links).toEqual([
      ['good', 'https://example.org/a?b=1&c=2', 'noopener noreferrer'],
      ['picture', 'https://example.org/pixel.png', 'noopener noreferrer'],
    ])
    expect(await answer.locator('img, script, [onclick], [style]').count()).toBe(0)
    expect(await tab.evaluate('window.hit')).toBeUndefined()
  })

  test('a long conversation keeps its end and the box in sight, unless the reader scrolls up', async () => {
    const { tab } = await visit({ viewport: { width: 900, height: 600 } })
    const long = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n\n')
    await answerWith(tab, [stream(long), stream(long), stream(long)])
    await openChat(tab)
    await say(tab, 'first')
    await say(tab, 'second')
    await turnsOf(tab).nth(1).getByText('line 39').waitFor()
    const boxIsInSight = () =>
      tab.evaluate<boolean>(
        "document.querySelector('[name=question]').getBoundingClientRect().bottom <= innerHeight",
      )
    const fromEnd = () =>
      tab.evaluate<number>('document.documentElement.scrollHeight - innerHeight - scrollY')
    await expect.poll(fromEnd).toBeLessThan(5)
    expect(await boxIsInSight()).toBe(true)
    await tab.evaluate('scrollTo(0, 0)')
    await expect.poll(() => tab.evaluate('scrollY')).toBe(0)
    expect(await boxIsInSight()).toBe(true)
  })

  test('models without a credential are not offered, and the choice outlives a restart', async () => {
    const { tab } = await visit()
    await openChat(tab)
    const select = tab.getByLabel('with')
    await expect.poll(() => select.locator('option').allInnerTexts()).toContain('pooled')
    expect(await select.locator('option').allInnerTexts()).not.toContain('keyless')
    await tab.getByText('1 model is not offered').waitFor()
    await select.selectOption('pooled')
    await tab.route('**/api/**', (route) => route.abort())
    await tab.getByRole('alert').getByText('No connection').waitFor()
    await tab.reload()
    await tab.unroute('**/api/**')
    await expect.poll(() => select.locator('option').allInnerTexts()).toContain('demo')
    expect(await select.inputValue()).toBe('demo')
  })
})

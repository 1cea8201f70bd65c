import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { completion, hello } from '../../support/answers.ts'
import { httpServer } from '../support/servers.ts'
import { openWorld, type World } from './served.ts'

const executablePath = '/usr/bin/chromium'
export const hasBrowser = existsSync(executablePath)
if (!hasBrowser) {
  console.warn(`SKIPPED: ${executablePath} is not installed, so the console is not tried in it`)
}

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** That of the file whose tests run. */
export let browser: Browser

/** Opens a browser for the tests of a file. */
export function openBrowser(): void {
  beforeAll(async () => {
    if (hasBrowser) browser = await chromium.launch({ executablePath, args: quiet })
  })
  afterAll(async () => {
    await browser?.close()
  })
}

/** A request whose reservation fits into the budgets of these tests. */
export const short = { max_tokens: 20 }

/** A demo provider with prices, and a provider at this address whose circuit opens at once. */
export function configFor(url: string): string {
  return `
[resilience]
retry_max_attempts = 1
circuit_failure_threshold = 1
[[providers]]
name = "demo"
kind = "demo"
[[providers.models]]
id = "demo"
cost_per_1m_input = 2.5
cost_per_1m_output = 10.0
[[providers]]
name = "vendor"
kind = "openai"
base_url = "${url}/v1"
[[providers.models]]
id = "m"
cost_per_1m_input = 2.5
cost_per_1m_output = 10.0
fallbacks = ["demo"]
[[providers]]
name = "cutting"
kind = "openai"
base_url = "${url}/cut"
models = [{ id = "cut" }]
[[providers]]
name = "hanging"
kind = "openai"
base_url = "${url}/hang"
models = [{ id = "hang" }]
[[providers]]
name = "keyless"
kind = "openai"
api_key_env = "NOT_SET_KEY"
models = [{ id = "keyless" }]
[[providers]]
name = "pool"
kind = "openai"
base_url = "${url}/limited"
api_key_envs = ["POOL_A", "POOL_B"]
models = [{ id = "pooled" }]
`
}

const env = { POOL_A: 'first-key', POOL_B: 'second-key' }

export interface Visit extends World {
  readonly tab: Page
}

interface VisitOptions extends BrowserContextOptions {
  /** Further settings of the gateway. */
  readonly config?: string
}

/** Opens the printed link in a new browser profile. */
export async function visit({ config = '', ...options }: VisitOptions = {}): Promise<Visit> {
  const vendor = await httpServer((request, response) => {
    request.resume()
    const isCut = request.url?.startsWith('/cut')
    if (isCut || request.url?.startsWith('/hang')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(hello, () => isCut && response.destroy())
      return
    }
    if (request.url?.startsWith('/limited')) {
      response.writeHead(429, { 'retry-after': '3600' }).end()
      return
    }
    // Down: whatever it answers is no completion.
    response
      .writeHead(503, { 'content-type': 'application/json' })
      .end(JSON.stringify(completion()))
  })
  const world = await openWorld({ config: `${configFor(vendor.url)}${config}`, env })
  const context = await browser.newContext({ viewport: { width: 1280, height: 960 }, ...options })
  const tab = await context.newPage()
  const problems: string[] = []
  tab.on('pageerror', ({ message }) => problems.push(message))
  tab.on('console', (message) => {
    // The browser also reports each answer that is not 2xx, which a page may expect.
    const isProblem = message.type() === 'error' && !message.text().startsWith('Failed to load')
    if (isProblem) problems.push(message.text())
  })
  onTestFinished(async () => {
    await context.close()
    expect(problems).toEqual([])
  })
  await tab.goto(world.console.link)
  await tab.getByText('live, version').waitFor()
  return { ...world, tab }
}

/** Goes to a view by the navigation. */
export async function goTo(tab: Page, view: string): Promise<void> {
  const nav = tab.getByRole('navigation', { name: 'Views' })
  await nav.getByRole('link', { name: view, exact: true }).click()
}

/** The keys that a person without a mouse presses. */
export function keyboardOf(tab: Page) {
  const press = async (...keys: string[]) => {
    for (const key of keys) await tab.keyboard.press(key)
  }
  const focusOn = async (name: string) => {
    for (let steps = 0; steps < 40; steps++) {
      const focused = await tab.evaluate('document.activeElement?.textContent.trim()')
      if (focused === name) return
      await press('Tab')
    }
    throw new Error(`no way to ${name} with the Tab key`)
  }
  return { press, focusOn }
}

/** Waits until the page shows a text. */
export async function expectText(tab: Page, wanted: string | RegExp): Promise<void> {
  await expect.poll(() => tab.getByText(wanted).count()).toBeGreaterThan(0)
}

/** The addresses of all views, with their parts. */
export function listViews(): readonly string[] {
  return [
    'overview',
    'requests',
    'models',
    'models?tab=routes',
    'models?tab=settings&defaults=true',
    'spend',
    'keys',
    'keys?tab=groups',
    'audit',
    'chat',
    'connect?client=codex',
  ]
}

/** Opens a view at its address. */
export async function openView(tab: Page, address: string): Promise<void> {
  await tab.goto(`${new URL(tab.url()).origin}/#${address}`)
  await tab.locator('main :is(h2, h3, nav)').first().waitFor()
}

const long = 'nightly evaluation of the retrieval pipeline in staging (ask the platform team first)'

const longRoute = `
[[routes]]
id = "${long.replaceAll(' ', '-').replace(/[()]/g, '')}"
strategy = "weighted"
targets = [{ model = "demo" }, { model = "m" }]
`

/** Opens a page with names that are as long as teams make them. */
export async function visitFilled(options: VisitOptions = {}): Promise<Visit> {
  const world = await visit({ config: longRoute, ...options })
  const { host } = world
  const group = await host.admin('POST', '/admin/groups', { name: long, budget_max: 5 })
  const { key } = await host.key({ name: long, group_id: group.body['id'], budget_max: 0.01 })
  await host.chat(key, { ...short, model: 'm' })
  await host.chat(key, { ...short, model: `${long} model` })
  return world
}

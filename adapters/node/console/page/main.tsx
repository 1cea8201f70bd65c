import { render } from 'preact'
import { App } from './app.tsx'
import { follow, logIn } from './state.ts'
import { applyTheme } from './theme.ts'

applyTheme()
const [, code] = /^#code=([\w-]+)$/.exec(location.hash) ?? []
if (code !== undefined) {
  // The link stays out of the history.
  history.replaceState(null, '', '#overview')
  await logIn(code).catch(() => undefined)
}
render(<App />, document.body)
await follow()

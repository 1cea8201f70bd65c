import { asHeaderList, headerList } from '../core/ports.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import { version } from '../core/version.ts'

const encoder = new TextEncoder()

/** Creates the handler of `GET /`, which lists the routes: HTML for browsers, JSON for others. */
export function frontPage(routes: readonly string[]): (request: Request) => Reply {
  const page = encoder.encode(renderPage(routes))
  const json = jsonReply({ name: 'Model Gateway', version, routes })
  return ({ headers }) => {
    const wantsPage = headers.get('accept')?.includes('text/html') ?? false
    return wantsPage
      ? createHtmlReply(page)
      : { ...json, headers: asHeaderList([...json.headers, 'vary', 'accept']) }
  }
}

function createHtmlReply(page: Uint8Array): Reply {
  return {
    status: 200,
    headers: headerList({
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(page.length),
      vary: 'accept',
    }),
    body: page,
    contentPolicy: "default-src 'none'; style-src 'unsafe-inline'",
  }
}

/** Renders a page without scripts and external files. */
function renderPage(routes: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Model Gateway</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Model Gateway <small>${version}</small></h1>
<p>One OpenAI-compatible API for many model providers. Set the base URL of your client to this
address followed by <code>/v1</code>.</p>
<h2>Routes</h2>
<ul>
${routes.map(renderRoute).join('\n')}
</ul>
</main>
</body>
</html>
`
}

function renderRoute(route: string): string {
  const [method = '', path = ''] = route.split(' ')
  const code = `<code>${path}</code>`
  // A path with a parameter is not a link. Links are relative, because the gateway may be mounted
  // under a path.
  const isLink = method === 'GET' && !path.includes('{')
  return `<li><b>${method}</b> ${isLink ? `<a href="${path.slice(1)}">${code}</a>` : code}</li>`
}

const style = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5c6675; --line: #e3e7ec; --page: #fbfcfd;
  --link: #0b5cad }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ee; --soft: #98a3b3; --line: #2a323d; --page: #12161c; --link: #7db7f5 }
}
body { margin: 0; background: var(--page); color: var(--ink);
  font: 1rem/1.6 system-ui, sans-serif }
main { max-width: 38rem; margin: 0 auto; padding: 12vh 1.5rem 4rem }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; letter-spacing: -.02em }
h1 small { font-size: .95rem; font-weight: 400; letter-spacing: 0; color: var(--soft) }
h2 { margin: 2.5rem 0 .5rem; font-size: .95rem; font-weight: 600; color: var(--soft) }
p { max-width: 34rem }
code { font-family: ui-monospace, monospace; font-size: .92em; overflow-wrap: anywhere }
ul { margin: 0; padding: 0; list-style: none; border-top: 1px solid var(--line) }
li { display: grid; grid-template-columns: 4rem 1fr; align-items: baseline; padding: .45rem 0;
  border-bottom: 1px solid var(--line); line-height: 1.5rem }
b { font-size: .75rem; font-weight: 600; letter-spacing: .04em; color: var(--soft) }
a { color: var(--link); text-underline-offset: .2em }
`

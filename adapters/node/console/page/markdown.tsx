import { Lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import type { ComponentChildren, JSX } from 'preact'
import { CodeBlock } from './code-block.tsx'

/** Longer texts are shown as they are, so that none stalls the page. */
const maxLength = 200_000

interface MarkdownProps {
  readonly text: string
  /** Whether a line of the text is one of the page, as models write. */
  readonly keepsLines?: boolean
}

/**
 * Renders Markdown of a model. The text becomes elements and never HTML: tags in it are shown as text, an image as a
 * link to it, and only links to the web and to mail lead anywhere.
 */
export function Markdown({ text, keepsLines = false }: MarkdownProps) {
  if (text.length > maxLength) return <p class="plain">{text}</p>
  const tokens = new Lexer({ gfm: true, breaks: keepsLines }).lex(text)
  return <div class="markdown">{renderAll(tokens)}</div>
}

function renderAll(tokens: readonly Token[] = []): ComponentChildren {
  // Without extensions the lexer makes no other tokens.
  return tokens.map((token) => render(token as MarkedToken))
}

function render(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case 'paragraph':
      return <p>{renderAll(token.tokens)}</p>
    case 'heading':
      return <Heading token={token} />
    case 'list':
      return <List token={token} />
    case 'list_item':
      return <li>{renderAll(token.tokens)}</li>
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ '
    case 'blockquote':
      return <blockquote>{renderAll(token.tokens)}</blockquote>
    case 'code':
      return <CodeBlock language={token.lang} text={token.text} />
    case 'table':
      return <Table token={token} />
    case 'hr':
      return <hr />
    case 'br':
      return <br />
    case 'strong':
      return <strong>{renderAll(token.tokens)}</strong>
    case 'em':
      return <em>{renderAll(token.tokens)}</em>
    case 'del':
      return <del>{renderAll(token.tokens)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'link':
      return <Link href={token.href}>{renderAll(token.tokens)}</Link>
    case 'image':
      return <Link href={token.href}>{token.text || token.href}</Link>
    case 'text':
      return token.tokens ? renderAll(token.tokens) : decodeEntities(token.text)
    case 'escape':
    case 'html':
      return token.text
    case 'space':
    case 'def':
      return null
    default:
      return token satisfies never
  }
}

/** A heading of an answer is below those of the page. */
function Heading({ token: { depth, tokens } }: { readonly token: Tokens.Heading }) {
  const Tag = `h${Math.min(depth + 2, 6)}` as 'h3' | 'h4' | 'h5' | 'h6'
  return <Tag>{renderAll(tokens)}</Tag>
}

function List({ token: { ordered, start, items } }: { readonly token: Tokens.List }) {
  return ordered ? <ol start={Number(start)}>{renderAll(items)}</ol> : <ul>{renderAll(items)}</ul>
}

function Table({ token: { header, rows } }: { readonly token: Tokens.Table }) {
  const align = ({ align: to }: Tokens.TableCell) => (to === 'right' ? 'number' : undefined)
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {header.map((cell, at) => (
              <th key={at} scope="col" class={align(cell)}>
                {renderAll(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} class={align(cell)}>
                  {renderAll(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface LinkProps {
  readonly href: string
  readonly children: ComponentChildren
}

const safeProtocols = new Set(['http:', 'https:', 'mailto:'])

function Link({ href, children }: LinkProps): JSX.Element {
  const { protocol } = URL.parse(href) ?? {}
  // A relative address would lead into the console.
  if (protocol === undefined || !safeProtocols.has(protocol)) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

const entity = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi

/** Decodes the character references that the lexer leaves in texts, such as `&lt;`. */
function decodeEntities(text: string): string {
  return text.replace(entity, (reference) => {
    const parsed = new DOMParser().parseFromString(reference, 'text/html')
    return parsed.body.textContent ?? reference
  })
}

import { CopyButton } from './copy-button.tsx'

interface CodeBlockProps {
  readonly language: string | undefined
  readonly text: string
}

/** A text to copy. */
export function CodeBlock({ language, text }: CodeBlockProps) {
  return (
    <div class="code">
      <div class="code-head">
        <span>{language}</span>
        <CopyButton text={text} name="the code" />
      </div>
      {/* What scrolls can be reached by keyboard. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  )
}

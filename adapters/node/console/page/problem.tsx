interface ProblemProps {
  /** What cannot be read: `the models`. */
  readonly of: string
  readonly problem: string | undefined
}

/** Says why something cannot be read; nothing while it can. */
export function Problem({ of, problem }: ProblemProps) {
  if (problem === undefined) return null
  return (
    <p class="problem" role="alert">
      Cannot read {of}: {problem}
    </p>
  )
}

import type { ReactElement } from 'react'

/** Code that a script gives a button to copy. It takes the focus, so that it can be scrolled by keyboard. */
export function CodeBlock({
  name,
  code,
}: {
  /** What the code is, for the label of the button. */
  readonly name: string
  readonly code: string
}): ReactElement {
  return (
    <div className="code" data-copied-as={name}>
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  )
}

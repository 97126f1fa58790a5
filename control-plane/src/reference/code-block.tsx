import type { ReactElement } from 'react'

/**
 * A block of code. A script adds a button that copies it. The block can get the focus, so that people can scroll it by keyboard.
 */
export function CodeBlock({
  name,
  code,
}: {
  /** Description of the code for the label of the button. */
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

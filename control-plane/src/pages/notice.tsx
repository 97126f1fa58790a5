import type { ReactElement } from 'react'

/** A message about an action that was completed or refused. */
export type Notice = { readonly tone: 'good' | 'bad'; readonly text: string }

export function NoticeLine({
  notice,
}: {
  readonly notice: Notice | undefined
}): ReactElement | null {
  if (notice === undefined) return null
  const { tone, text } = notice
  if (tone === 'good') {
    return (
      <p className="notice good" role="status">
        {text}
      </p>
    )
  }
  // Screen readers do not announce an alert that is present when the page loads. They read this one because it has the focus.
  return (
    <p className="notice bad" role="alert" tabIndex={-1} autoFocus>
      {text}
    </p>
  )
}

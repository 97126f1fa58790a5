import type { ReactElement } from 'react'

/** What was just done, or could not be. */
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
  // What was there when the page came is announced by no alert: it is read because it has the focus.
  return (
    <p className="notice bad" role="alert" tabIndex={-1} autoFocus>
      {text}
    </p>
  )
}

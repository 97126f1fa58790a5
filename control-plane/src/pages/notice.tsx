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
  return (
    <p className={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {text}
    </p>
  )
}

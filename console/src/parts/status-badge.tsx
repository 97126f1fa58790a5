import { Badge } from '@mantine/core'
import type { ReactElement } from 'react'

/** Colour of each status by what it means: fine, needs attention, or over. */
const colors: Readonly<Record<string, string>> = {
  active: 'teal',
  trialing: 'teal',
  paid: 'teal',
  succeeded: 'teal',
  delivered: 'teal',
  enabled: 'teal',
  done: 'teal',
  past_due: 'orange',
  open: 'blue',
  draft: 'gray',
  pending: 'blue',
  processing: 'blue',
  running: 'blue',
  held: 'orange',
  paused: 'orange',
  unpaid: 'red',
  failed: 'red',
  uncollectible: 'red',
  disabled: 'red',
  suspended: 'red',
}

/** Shows a status by its name in the API, with spaces. */
export function StatusBadge({ status }: { readonly status: string }): ReactElement {
  return (
    <Badge variant="dot" color={colors[status] ?? 'gray'} tt="none">
      {status.replaceAll('_', ' ')}
    </Badge>
  )
}

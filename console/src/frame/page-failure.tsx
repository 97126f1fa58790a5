import { Anchor, Stack } from '@mantine/core'
import { useQueryErrorResetBoundary } from '@tanstack/react-query'
import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { Failure } from '../parts/failure.tsx'
import { PageHead } from '../parts/page-head.tsx'

/** Replaces a page that failed. The navigation around it still works. */
export function PageFailure({ error, reset }: ErrorComponentProps): ReactElement {
  const queries = useQueryErrorResetBoundary()
  const retry = (): void => {
    queries.reset()
    reset()
  }
  return (
    <Stack>
      <PageHead title="This page cannot be shown" />
      <Failure error={error as Error} onRetry={retry} />
    </Stack>
  )
}

/** Replaces a page that does not exist. */
export function NoPage(): ReactElement {
  return (
    <Stack p="md">
      <PageHead
        title="There is no such page"
        text="The address may be cut off or mistyped."
        actions={<Anchor renderRoot={(props) => <Link to="/" {...props} />}>First page</Anchor>}
      />
    </Stack>
  )
}

import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'
import { ApiProblem } from '../api/problem.ts'

/** Shows what failed, and what the user can do. */
export function Failure(props: {
  readonly error: Error
  readonly onRetry?: (() => void) | undefined
}): ReactElement {
  const { error, onRetry } = props
  return (
    <Alert
      variant="default"
      title={titleOf(error)}
      role="alert"
      style={{ borderInlineStart: '4px solid var(--mantine-color-red-filled)' }}
    >
      <Stack gap="xs">
        <Text size="sm">{textOf(error)}</Text>
        {error instanceof ApiProblem && error.requestId !== null && (
          <Text size="xs">
            Request <Code>{error.requestId}</Code>: name it when you ask for help.
          </Text>
        )}
        {onRetry !== undefined && (
          <Group>
            <Button size="xs" variant="default" onClick={onRetry}>
              Try again
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}

function titleOf(error: Error): string {
  if (!(error instanceof ApiProblem)) return 'This part of the page failed'
  if (error.status === 0) return 'No connection'
  if (error.status === 403) return 'You may not do this'
  if (error.status === 404) return 'Not found'
  if (error.status >= 500) return 'A part of Tollgate does not answer'
  return 'This was refused'
}

function textOf(error: Error): string {
  if (error instanceof ApiProblem) return error.message
  return 'Reload the page. If that does not help, the browser console has the details.'
}

import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core'
import type { ReactElement } from 'react'

/** Shows a value to copy, such as a link or a secret, with an explanation. */
export function ToCopy(props: { readonly text: string; readonly value: string }): ReactElement {
  return (
    <Alert variant="default">
      <Stack gap="xs">
        <Text size="sm">{props.text}</Text>
        <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {props.value}
        </Code>
        <Group>
          <CopyButton value={props.value}>
            {({ copied, copy }) => (
              <Button size="xs" variant="default" onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Alert>
  )
}

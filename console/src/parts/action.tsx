import { Button, Group, Stack, Text, Tooltip } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useState, type FormEvent, type ReactElement, type ReactNode } from 'react'
import { newIdempotencyKey } from '../api/idempotency-key.ts'
import { DialogFrame } from './dialog-frame.tsx'
import { Failure } from './failure.tsx'

/** The idempotency key of the dialog's change, and the function that closes the dialog. */
export type Dialog = { readonly idempotencyKey: string; readonly close: () => void }

/**
 * Shows a button that opens a dialog. A user whose role does not allow the action sees a disabled button with the reason. Each opened
 * dialog has one key, so that a form that is sent twice makes one change.
 */
export function Action(props: {
  readonly label: string
  /** Heading of the dialog. Default: the label. */
  readonly title?: string
  readonly refusal?: string | undefined
  /** Whether the dialog shows what cannot be shown again, so that only its buttons close it. */
  readonly showsSecret?: boolean
  readonly size?: 'md' | 'xl'
  readonly children: (dialog: Dialog) => ReactNode
}): ReactElement {
  const { label, title = label, refusal, showsSecret = false, size = 'md', children } = props
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Tooltip label={refusal} disabled={refusal === undefined} multiline maw={280}>
        <Button
          size="xs"
          variant="default"
          {...(refusal === undefined
            ? { onClick: open }
            : { 'data-disabled': true, 'aria-disabled': true })}
        >
          {label}
        </Button>
      </Tooltip>
      <DialogFrame
        title={title}
        isOpen={isOpen}
        close={close}
        showsSecret={showsSecret}
        size={size}
      >
        <Opened close={close}>{children}</Opened>
      </DialogFrame>
    </>
  )
}

function Opened(props: {
  readonly close: () => void
  readonly children: (dialog: Dialog) => ReactNode
}): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey)
  return props.children({ idempotencyKey, close: props.close })
}

/** A request that changes something. The client throws refusals as errors, which the generated types do not contain. */
type Change = { readonly isPending: boolean; readonly error: unknown }

/** Shows the effect of a change, its fields, and the reason if the API refuses it. */
export function ActionForm(props: {
  readonly text: ReactNode
  readonly submitLabel: string
  /** Label of the button that closes the dialog without a change. */
  readonly closeLabel?: string
  readonly isDangerous?: boolean
  /** False while the effect of the change is not known, so that the form cannot be sent. */
  readonly isReady?: boolean
  readonly change: Change
  readonly close: () => void
  readonly onSubmit: () => void
  readonly children?: ReactNode
}): ReactElement {
  const { text, submitLabel, closeLabel = 'Cancel', isDangerous = false } = props
  const { change, close, onSubmit, isReady = true, children } = props
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (isReady && !change.isPending) onSubmit()
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text component="div" size="sm">
          {text}
        </Text>
        {children}
        {change.error instanceof Error && <Failure error={change.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {closeLabel}
          </Button>
          <Button
            type="submit"
            loading={change.isPending}
            disabled={!isReady}
            {...(isDangerous ? { color: 'red.9' } : {})}
          >
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

import { Group, Modal } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import { Boundary } from './boundary.tsx'

/** Shows a dialog. */
export function DialogFrame(props: {
  readonly title: string
  readonly isOpen: boolean
  readonly close: () => void
  /** Whether the dialog shows what cannot be shown again, so that only its buttons close it. */
  readonly showsSecret?: boolean
  readonly size?: 'md' | 'xl'
  readonly children: ReactNode
}): ReactElement {
  const { title, isOpen, close, showsSecret = false, size = 'md', children } = props
  return (
    // The library's own head of a dialog is a second banner of the page for screen readers.
    <Modal.Root
      opened={isOpen}
      onClose={close}
      size={size}
      // A click beside the dialog would lose what was typed, or a secret.
      closeOnClickOutside={false}
      closeOnEscape={!showsSecret}
    >
      <Modal.Overlay />
      <Modal.Content>
        <Group justify="space-between" wrap="nowrap" p="md">
          <Modal.Title fw={600}>{title}</Modal.Title>
          <Modal.CloseButton aria-label="Close" />
        </Group>
        <Modal.Body>
          <Boundary>{children}</Boundary>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

import { Button } from '@mantine/core'
import { useClipboard, useDisclosure } from '@mantine/hooks'
import type { ReactElement } from 'react'
import { DialogFrame } from './dialog-frame.tsx'
import { ToCopy } from './to-copy.tsx'

/** Copies a text. Browsers allow that only on secure pages, so on others the text is shown instead. */
export function CopyText(props: { readonly label: string; readonly text: string }): ReactElement {
  const { label, text } = props
  const { copy, copied } = useClipboard()
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          if (window.isSecureContext) copy(text)
          else open()
        }}
      >
        {copied ? 'Copied' : label}
      </Button>
      <DialogFrame title={label} isOpen={isOpen} close={close} size="xl">
        <ToCopy text="Select the text, and copy it." value={text} />
      </DialogFrame>
    </>
  )
}

import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { saveFile } from './save-file.ts'
import { notice } from './show-changed.ts'

/** Requests a file and saves it. */
export function Download(props: {
  readonly label: string
  readonly fileName: string
  readonly request: () => Promise<Blob>
}): ReactElement {
  const { label, fileName, request } = props
  const download = useMutation({
    mutationFn: request,
    onSuccess: (file) => {
      saveFile(file, fileName)
    },
    onError: (error) => {
      notifications.show({
        ...notice,
        color: 'red',
        title: 'The file cannot be downloaded',
        message: error.message,
      })
    },
  })
  return (
    <Button
      size="xs"
      variant="default"
      loading={download.isPending}
      onClick={() => {
        download.mutate()
      }}
    >
      {label}
    </Button>
  )
}

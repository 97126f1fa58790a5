import { Checkbox, Stack, TextInput } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import { keyScopes, type KeyScope } from '@tollgate/schemas/key-scopes'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { ToCopy } from '../parts/to-copy.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

const meanings: Readonly<Record<KeyScope, string>> = {
  ingest: 'Record usage and check limits',
  read: 'Read everything',
  manage: 'Change everything, keys included',
  webhooks: 'Manage webhook endpoints',
}

export function CreateKey(): ReactElement {
  return (
    <Action label="Create a key" showsSecret refusal={useRefusal('manage')}>
      {(dialog) => <KeyForm {...dialog} />}
    </Action>
  )
}

function KeyForm({ idempotencyKey, close }: Dialog): ReactElement {
  const { hooks, environment } = useApi()
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<readonly KeyScope[]>(['ingest'])
  const change = hooks.useMutation('post', '/v1/ui/api-keys')
  if (change.data !== undefined) {
    return (
      <ToCopy
        text="This is the only time that the key is shown. Store it where only your program reads it."
        value={change.data.secretKey}
      />
    )
  }
  return (
    <ActionForm
      text={`The key works in ${environment} at once, until it is revoked.`}
      submitLabel="Create the key"
      change={change}
      close={close}
      onSubmit={() => {
        const body = { scopes: [...scopes], ...(name === '' ? {} : { name }) }
        change.mutate({ body, headers: { 'Idempotency-Key': idempotencyKey } })
      }}
    >
      <TextInput
        label="Name"
        description="The program that will have the key."
        value={name}
        onChange={(event) => {
          setName(event.currentTarget.value)
        }}
        data-autofocus
      />
      <Checkbox.Group
        label="Permissions of the program"
        value={[...scopes]}
        onChange={(chosen) => {
          setScopes(keyScopes.filter((scope) => chosen.includes(scope)))
        }}
      >
        <Stack gap="xs" mt="xs">
          {keyScopes.map((scope) => (
            <Checkbox key={scope} value={scope} label={meanings[scope]} />
          ))}
        </Stack>
      </Checkbox.Group>
    </ActionForm>
  )
}

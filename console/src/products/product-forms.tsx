import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Answer } from '../api/answers.ts'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'

type Product = Answer<'getProduct'>
type Draft = {
  readonly name: string
  readonly description: string
  readonly status: Product['status']
}

const statuses: readonly Product['status'][] = [...(['active', 'inactive', 'suspended'] as const)]

export function CreateProduct(): ReactElement {
  return (
    <Action label="Create a product" refusal={useRefusal('manage')}>
      {(dialog) => <CreateForm {...dialog} />}
    </Action>
  )
}

function CreateForm({ idempotencyKey, close }: Dialog): ReactElement {
  const { hooks, environment } = useApi()
  const navigate = useNavigate()
  const [draft, setDraft] = useState<Draft>({ name: '', description: '', status: 'active' })
  const change = hooks.useMutation('post', '/v1/sdk/products', {
    onSuccess: ({ reference, name }) => {
      showChanged(`The product ${name} is created.`)
      close()
      void navigate({
        to: '/$environment/products/$productRef',
        params: { environment, productRef: reference },
      })
    },
  })
  return (
    <ActionForm
      text="Customers buy a product by its plans. They can buy the product when one of its plans is active."
      submitLabel="Create the product"
      change={change}
      close={close}
      onSubmit={() => {
        const { name, description } = draft
        const body = { name, ...(description === '' ? {} : { description }) }
        change.mutate({ body, headers: { 'Idempotency-Key': idempotencyKey } })
      }}
    >
      <Fields draft={draft} onChange={setDraft} />
    </ActionForm>
  )
}

export function EditProduct({ product }: { readonly product: Product }): ReactElement {
  return (
    <Action label="Edit" title="Edit the product" refusal={useRefusal('manage')}>
      {(dialog) => <EditForm product={product} {...dialog} />}
    </Action>
  )
}

function EditForm(props: { readonly product: Product } & Dialog): ReactElement {
  const { product, idempotencyKey, close } = props
  const { hooks } = useApi()
  const { reference: productRef, name, description = '', status } = product
  const [draft, setDraft] = useState<Draft>({ name, description, status })
  const change = hooks.useMutation('put', '/v1/sdk/products/{productRef}', {
    onSuccess: () => {
      showChanged('The product is changed.')
      close()
    },
  })
  return (
    <ActionForm
      text="Pages of customers show the new name at once. A product that is not active cannot be bought; its purchases continue."
      submitLabel="Save"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { productRef } },
          body: draft,
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    >
      <Fields draft={draft} onChange={setDraft} />
      <NativeSelect
        label="Status"
        value={draft.status}
        onChange={(event) => {
          const chosen = statuses.find((each) => each === event.currentTarget.value)
          if (chosen !== undefined) setDraft({ ...draft, status: chosen })
        }}
        data={[...statuses]}
      />
    </ActionForm>
  )
}

function Fields(props: {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}): ReactElement {
  const { draft, onChange } = props
  return (
    <>
      <TextInput
        label="Name"
        required
        value={draft.name}
        onChange={(event) => {
          onChange({ ...draft, name: event.currentTarget.value })
        }}
        data-autofocus
      />
      <Textarea
        label="Description"
        autosize
        value={draft.description}
        onChange={(event) => {
          onChange({ ...draft, description: event.currentTarget.value })
        }}
      />
    </>
  )
}

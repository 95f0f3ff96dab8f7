/** Changing one setting; what is typed stays if the server refuses (CO-8, CO-76). */
import { Alert, Button, Group, Modal, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useWrite } from '../../api/useWrite'
import { FaultNotice } from '../../ui/FaultNotice'
import { useFocusBack } from '../../ui/useFocusBack'
import { RESET, SET } from './documents'
import { Value } from './SettingTable'
import { useRange } from './useRange'
import { parsed, type Setting, typed } from './values'

export function SettingModal({
  setting,
  agent,
  reload,
  onClose,
  onSaved,
}: {
  setting: Setting
  agent: string | null
  reload: () => void
  onClose: () => void
  onSaved: () => void
}) {
  useFocusBack()
  const { t } = useTranslation(['settings', 'ui'])
  const [text, setText] = useState(() => typed(setting.value))
  const set = useWrite(SET)
  const reset = useWrite(RESET)
  const value = parsed(setting, text)
  const fault = set.fault ?? reset.fault
  const place = { name: setting.name, agent, version: setting.version }
  const settle = (done: unknown) => {
    if (done !== null) onSaved()
    else reload()
  }
  return (
    <Modal opened onClose={onClose} title={setting.name} closeButtonProps={{ 'aria-label': t('ui:close') }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (value !== undefined) void set.run({ ...place, value }).then(settle)
        }}
      >
        <Stack>
          <Field setting={setting} text={text} onChange={setText} />
          {fault?.code === 'VERSION_CONFLICT' ? (
            <Alert role="alert" color="orange" title={t('conflict')}>
              <Text size="sm">{t('now')}</Text>
              <Value of={setting.value} />
            </Alert>
          ) : (
            fault && <FaultNotice fault={fault} />
          )}
          <Group justify="space-between">
            <Button
              variant="default"
              disabled={setting.version === 0}
              loading={reset.busy}
              onClick={() => void reset.run(place).then(settle)}
            >
              {t('reset')}
            </Button>
            <Group>
              <Button variant="default" onClick={onClose}>
                {t('ui:cancel')}
              </Button>
              <Button type="submit" loading={set.busy} disabled={value === undefined}>
                {t('ui:save')}
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function Field({
  setting,
  text,
  onChange,
}: {
  setting: Setting
  text: string
  onChange: (text: string) => void
}) {
  const { t } = useTranslation('settings')
  const given = {
    label: t('column.value'),
    description: useRange()(setting),
    value: text,
    'data-autofocus': true,
  }
  if (setting.takes === 'BOOLEAN')
    return (
      <NativeSelect
        {...given}
        onChange={(event) => onChange(event.currentTarget.value)}
        data={[
          { value: 'true', label: t('on') },
          { value: 'false', label: t('off') },
        ]}
      />
    )
  if (setting.takes === 'TEXTS')
    return (
      <Textarea {...given} autosize minRows={4} onChange={(event) => onChange(event.currentTarget.value)} />
    )
  return (
    <TextInput
      {...given}
      inputMode={setting.takes === 'TEXT' ? 'text' : 'decimal'}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** One of the two clocks: a moment between two, or its right end, which asks for no moment at all. */
import { Slider, Stack, Text } from '@mantine/core'
import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { shownTime } from '../../ui/When'
import type { Range } from './clock'

const STEPS = 200

export function ClockSlider({
  label,
  rest,
  range,
  value,
  onChange,
}: {
  label: string
  /** What the right end means. */
  rest: string
  range: Range
  /** RFC 3339; empty for the right end. */
  value: string
  onChange: (value: string) => void
}) {
  const { i18n } = useTranslation()
  const id = useId()
  const span = range.to - range.from
  const place = value === '' ? STEPS : Math.round(((Date.parse(value) - range.from) / span) * STEPS)
  const [moved, setMoved] = useState<number | null>(null)
  const at = (step: number) => new Date(range.from + (span * step) / STEPS).toISOString()
  const said = (step: number) => (step >= STEPS ? rest : shownTime(at(step), i18n.language, true))
  const now = moved ?? place
  return (
    <Stack gap={2} miw={220} style={{ flex: 1 }}>
      <Text id={id} size="sm" fw={500}>
        {label}: {said(now)}
      </Text>
      <Slider
        aria-labelledby={id}
        min={0}
        max={STEPS}
        value={now}
        label={null}
        thumbProps={{ 'aria-labelledby': id, 'aria-valuetext': said(now) }}
        onChange={setMoved}
        onChangeEnd={(step) => {
          setMoved(null)
          onChange(step >= STEPS ? '' : at(step))
        }}
      />
    </Stack>
  )
}

import { describe, expect, it } from 'vitest';
import { AnswerWindow } from '../../../../src/policy/gates/answer-window.js';

function windowOf(...answers: [isRefused: boolean, times: number][]): AnswerWindow {
  const latest = new AnswerWindow();
  for (const [isRefused, times] of answers) for (let n = 0; n < times; n++) latest.add(isRefused);
  return latest;
}

describe('the window of answers', () => {
  it('is refusing from ten refusals in twenty answers on', () => {
    expect(windowOf([true, 9]).isRefusing).toBe(false);
    expect(windowOf([true, 10]).isRefusing).toBe(true);
    expect(windowOf([true, 10], [false, 10]).isRefusing).toBe(true);
    expect(windowOf([true, 10], [false, 11]).isRefusing).toBe(false);
    expect(windowOf([false, 1_000], [true, 9]).isRefusing).toBe(false);
    expect(windowOf([false, 1_000], [true, 10]).isRefusing).toBe(true);
  });

  it('forgets its answers, and keeps what is usual', () => {
    const latest = windowOf([true, 10]);
    latest.clear();
    expect(latest.isRefusing).toBe(false);
    const noisy = new AnswerWindow();
    for (let n = 0; n < 1_000; n++) noisy.add(n % 3 === 0);
    noisy.clear();
    for (let n = 0; n < 10; n++) noisy.add(true);
    expect(noisy.isRefusing).toBe(false);
    for (let n = 0; n < 8; n++) noisy.add(true);
    expect(noisy.isRefusing).toBe(true);
  });

  it('learns soon that a third is usual', () => {
    const latest = new AnswerWindow();
    for (let n = 0; n < 60; n++) latest.add(n % 3 === 0);
    for (let n = 0; n < 6; n++) latest.add(true);
    expect(latest.isRefusing).toBe(false);
    for (let n = 0; n < 8; n++) latest.add(true);
    expect(latest.isRefusing).toBe(true);
  });

  it('is refusing when nearly all are, whatever is usual', () => {
    expect(windowOf([true, 10_000]).isRefusing).toBe(true);
  });
});

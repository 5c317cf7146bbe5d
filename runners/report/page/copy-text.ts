/** Every button with `data-copy` copies that text; where the browser refuses, the text beside it is selected. */
export function followCopyButtons(): void {
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLElement>('[data-copy]');
    const text = button?.dataset['copy'];
    if (button !== null && text !== undefined) void copy(button, text);
  });
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = label), 2000);
  } catch {
    const shown =
      button.parentElement?.querySelector('code') ?? button.closest('details')?.querySelector('.ids');
    if (shown != null) getSelection()?.selectAllChildren(shown);
  }
}

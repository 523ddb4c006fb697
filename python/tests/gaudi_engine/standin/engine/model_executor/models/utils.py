"""Names of layers."""


def extract_layer_index(layer_name: str) -> int:
    numbers = [int(part) for part in layer_name.split(".") if part.isdecimal()]
    assert len(numbers) == 1, layer_name
    return numbers[0]

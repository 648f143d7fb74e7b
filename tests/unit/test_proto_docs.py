"""The contracts in proto/ are documentation: every message, field, call and enum value says what it is."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet

ROOT = Path(__file__).parents[2]
PROTOS = sorted((ROOT / "proto" / "numbridge" / "v1").glob("*.proto"))

# Numbers of fields in the descriptors of files, messages, enums and services.
MESSAGES, ENUMS, SERVICES = 4, 5, 6
FIELDS, NESTED, NESTED_ENUMS = 2, 3, 4
VALUES = METHODS = 2

Named = tuple[tuple[int, ...], str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[FileDescriptorProto]:
    out = tmp_path_factory.mktemp("proto") / "all.bin"
    options = [f"-I{ROOT / 'proto'}", f"--descriptor_set_out={out}", "--include_source_info"]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *options, *map(str, PROTOS)], check=True, timeout=60)
    return list(FileDescriptorSet.FromString(out.read_bytes()).file)


def in_message(message: DescriptorProto, path: tuple[int, ...]) -> Iterator[Named]:
    """The message and everything inside it that needs a comment, with paths into the source info."""
    obvious = message.name.endswith(("Request", "Reply"))  # what the call's own comment has said already
    if not obvious and not message.options.map_entry:
        yield path, message.name
    if message.options.map_entry:
        return
    for number, field in enumerate(message.field):
        # A choice's arms are messages, which say what they are.
        if not (field.HasField("oneof_index") and not field.proto3_optional and field.type == field.TYPE_MESSAGE):
            yield (*path, FIELDS, number), f"{message.name}.{field.name}"
    for number, nested in enumerate(message.nested_type):
        yield from in_message(nested, (*path, NESTED, number))
    for number, enum in enumerate(message.enum_type):
        yield (*path, NESTED_ENUMS, number), f"{message.name}.{enum.name}"


def in_file(file: FileDescriptorProto) -> Iterator[Named]:
    for number, message in enumerate(file.message_type):
        yield from in_message(message, (MESSAGES, number))
    for number, enum in enumerate(file.enum_type):
        yield (ENUMS, number), enum.name
        for place, value in enumerate(enum.value):
            yield (ENUMS, number, VALUES, place), f"{enum.name}.{value.name}"
    for number, service in enumerate(file.service):
        for place, method in enumerate(service.method):
            yield (SERVICES, number, METHODS, place), f"{service.name}.{method.name}"


def test_everything_in_the_contracts_has_a_comment(files: list[FileDescriptorProto]) -> None:
    silent = []
    for file in files:
        said = {
            tuple(location.path)
            for location in file.source_code_info.location
            if location.leading_comments.strip() or location.trailing_comments.strip()
        }
        silent += [f"{file.name}: {name}" for path, name in in_file(file) if path not in said]
    assert not silent, "\n" + "\n".join(silent)


def test_every_file_says_what_it_is_about(files: list[FileDescriptorProto]) -> None:
    package = (2,)
    about = {
        file.name: location.leading_comments.strip() or "".join(location.leading_detached_comments).strip()
        for file in files
        for location in file.source_code_info.location
        if tuple(location.path) == package
    }
    assert [name for name, text in about.items() if len(text) < 20] == []
    assert len(about) == len(PROTOS)


def test_an_enums_zero_means_nothing(files: list[FileDescriptorProto]) -> None:
    zeros = [enum.value[0].name for file in files for enum in file.enum_type]
    assert zeros
    assert [name for name in zeros if not name.endswith("_UNSPECIFIED")] == []


def test_proto_is_a_plain_folder() -> None:
    """An installed package of the name `proto` would be shadowed by one of ours."""
    assert list((ROOT / "proto").rglob("__init__.py")) == []
    assert "proto" not in sys.modules or str(ROOT) not in str(sys.modules["proto"].__file__)
